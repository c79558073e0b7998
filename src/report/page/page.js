"use strict";
/*
 * The report as a page. All texts of the report become text nodes, attributes
 * that cannot run anything, or pixels; none becomes markup. Cards are made when
 * they come into view, so that ten thousand are as quick as ten.
 */
(() => {
const read = id => JSON.parse(document.getElementById(id).textContent);
const report = read("report"), more = read("more");
const findings = report.findings, causes = more.causes, run = report.run || {};
const CHUNK = 30, FEW = 12;

/* ---- making elements ---- */

/* Characters that have no shape or change the direction of text are shown. */
const shown = text => String(text).replace(
	/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
	c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const h = (name, props, ...children) => {
	const element = document.createElement(name);
	for (const [key, value] of Object.entries(props || {})) {
		if (value === undefined || value === null || value === false)
			continue;
		if (key.startsWith("on"))
			element.addEventListener(key.slice(2), value);
		else if (key === "class")
			element.className = value;
		else
			element.setAttribute(key, value === true ? "" : shown(value));
	}
	for (const child of children.flat(3)) {
		if (child !== null && child !== undefined && child !== false)
			element.append(child instanceof Node ? child : shown(child));
	}
	return element;
};
const plural = (n, word, words) => n.toLocaleString("en") + " " + (n === 1 ? word : words || word + "s");
const seconds = s => s >= 60 ? Math.floor(s / 60) + " min " + Math.round(s % 60) + " s" :
	s >= 1 ? s.toFixed(1) + " s" : s >= .001 ? Math.round(s * 1000) + " ms" : Math.round(s * 1e6) + " µs";
const place = at => at && at.file ? at.file + (at.line ? ":" + at.line : "") : "";
/* As people write it: below the source root. */
const root = run.sources && run.sources !== "/" ? run.sources + "/" : null;
const placeShown = at => root && place(at).startsWith(root) ? place(at).slice(root.length) : place(at);

/* ---- pictures: nothing but shapes and text is let through ---- */

const SHAPES = new Set(["svg", "g", "path", "polygon", "polyline", "ellipse", "text"]);
const LOOKS = new Set(["viewBox", "width", "height", "d", "points", "x", "y", "cx", "cy", "rx", "ry", "transform",
	"text-anchor", "font-size", "class"]);
const copyShape = from => {
	const to = document.createElementNS("http://www.w3.org/2000/svg", from.localName);
	for (const {name, value} of from.attributes) {
		if (LOOKS.has(name))
			to.setAttribute(name, value);
	}
	for (const child of from.childNodes) {
		if (child.nodeType === Node.TEXT_NODE && from.localName === "text")
			to.append(shown(child.data));
		else if (child.nodeType === Node.ELEMENT_NODE && SHAPES.has(child.localName))
			to.append(copyShape(child));
	}
	return to;
};
const picture = (text, label, kind) => {
	if (!text)
		return null;
	const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
	if (parsed.localName !== "svg")
		return null;
	const svg = copyShape(parsed);
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", label);
	/* The background of Graphviz. */
	const ground = svg.querySelector("g.graph > polygon");
	if (ground)
		ground.remove();
	return h("div", {class: "picture " + (kind || ""), tabindex: 0}, svg);
};

/* ---- copying ---- */

const copyText = async text => {
	try {
		await navigator.clipboard.writeText(text);
	} catch (error) {
		/* Without a secure context there is only the old way. */
		const area = h("textarea", {"aria-hidden": "true"});
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
};
const copyButton = (text, label) => h("button", {class: "copy", type: "button", "data-copy": text, "aria-label": label, onclick: async event => {
	const button = event.currentTarget;
	await copyText(text);
	button.classList.add("done");
	button.textContent = "Copied";
	setTimeout(() => {
		button.classList.remove("done");
		button.textContent = "Copy";
	}, 1600);
}}, "Copy");
const again = (text, label) => h("div", {class: "again"}, h("code", null, text), copyButton(text, label));

/* ---- one finding ---- */

const excerpt = (at, label) => {
	const found = more.excerpts[place(at)];
	if (!at || !at.file)
		return null;
	return h("figure", {class: "source"}, h("figcaption", null, label ? label + " " : "", placeShown(at)),
		found && h("pre", {tabindex: 0}, found.lines.map((line, i) =>
			h("span", {class: "row" + (found.first + i === at.line ? " at" : "")}, h("i", null, found.first + i), line + "\n"))));
};
const frames = (list, label) => list && list.length ? h("details", {open: list.length <= 4},
	h("summary", null, label), h("ol", {class: "frames"}, list.map(frame => h("li", null, frame.function || "?", " ",
		h("span", {class: "place"}, placeShown(frame)))))) : null;
const value = (text, what, side) => h("td", {class: side + (what && what.kind === "absent" ? " absent" : ""), "data-label": side === "was" ? "before" : "after"}, text);
const values = finding => h("div", null, h("table", {class: "values"},
	h("thead", null, h("tr", null, ["Place", "Before", "After", "Type"].map(text => h("th", {scope: "col"}, text)))),
	h("tbody", null, finding.paths.map(path => h("tr", null, h("td", null, path.path), value(path.before, path.was, "was"),
		value(path.after, path.is, "is"), h("td", {class: "quiet"}, path.type || ""))))),
	finding.more_paths ? h("p", {class: "quiet"}, "and " + plural(finding.more_paths, "more place")) : null);
const orders = finding => ["failing_order", "passing_order"].filter(key => finding[key]).map(key => h("details", {open: finding[key].length <= 4},
	h("summary", null, key === "failing_order" ? "Order in which it fails" : "Order in which it passes"),
	h("ol", {class: "frames"}, finding[key].slice(0, 200).map(name => h("li", null, testButton(name, ""))))));
const LEVELS = ["one", "eq", "id", "full"];
const call = (one, i, all) => h("div", null,
	h("h3", null, all.length > 1 ? "Decisive call " + (i + 1) : "Decisive call"),
	h("p", {class: "message"}, h("code", null, one.api), one.argument ? [" with ", h("code", null, one.argument)] : null,
		one.did ? [": ", one.did] : null),
	one.clause ? h("p", {class: "quiet message"}, one.clause) : null, frames(one.stack, "Called from"),
	excerpt((one.stack || []).find(frame => frame.file), "Called at"));
const sourceLine = at => {
	const found = at && more.excerpts[place(at)];
	return found ? (found.lines[at.line - found.first] || "").trim() : "";
};
const spot = one => placeShown(one) + (one.column ? ":" + one.column : "");
const bounds = finding => h("ul", {class: "bounds"},
	finding.passing ? h("li", null, "passes if it comes just before ", h("code", null, spot(finding.passing)), " ", h("code", {class: "quiet"}, sourceLine(finding.passing))) : null,
	finding.failing ? h("li", null, "fails if it comes before ", h("code", null, spot(finding.failing)), " ", h("code", {class: "quiet"}, sourceLine(finding.failing))) : null);
/* A column for each thread, and what it did when. */
const STEPS = {statement: "", start: "begins", resume: "goes on", hold: "is held", release: "what was held goes on", wait: "waits for the others", failure: "fails", timer: "a timer runs out"};
const timeline = steps => {
	const threads = [...new Set(steps.map(step => step.thread))].sort((a, b) => a - b);
	return steps.length ? h("details", {open: steps.length <= 20}, h("summary", null, "What happened, thread by thread"),
		h("table", {class: "timeline"}, h("thead", null, h("tr", null, h("th", {scope: "col", class: "when"}, "ms"),
			threads.map(thread => h("th", {scope: "col"}, thread ? "Thread " + thread : "Test")))),
			h("tbody", null, steps.map(step => h("tr", {class: step.what}, h("td", {class: "when"}, (1000 * step.seconds).toFixed(3)),
				threads.map(thread => thread !== step.thread ? h("td") : h("td", {class: "step"},
					STEPS[step.what] === undefined ? step.what : STEPS[step.what], " ",
					step.place ? h("span", {class: "place"}, spot(step.place)) : null,
					step.place ? h("code", null, sourceLine(step.place)) : null))))))) : null;
};
const diff = patch => h("figure", {class: "source"}, h("figcaption", null, "Patch ", copyButton(patch, "Copy the patch")),
	h("pre", {class: "diff", tabindex: 0}, patch.replace(/\n$/, "").split("\n").map(line =>
		h("span", {class: "row " + (/^(\+\+\+|---|diff|index)/.test(line) ? "file" : line[0] === "@" ? "hunk" : line[0] === "+" ? "added" : line[0] === "-" ? "removed" : "")}, line + "\n"))));
const details = {
	"pollution": finding => [h("h3", null, "What is left"), values(finding), excerpt(finding.declared, "Declared at"),
		frames(finding.written, "Written in"), excerpt((finding.written || []).find(frame => frame.file), "Written at"),
		(finding.reads || []).map(read => frames(read.stack, "Read by " + read.test + " in")),
		frames(finding.allocated, "Allocated in"),
		finding.graphs ? h("details", null, h("summary", null, "All of it, before and after"), h("pre", {tabindex: 0}, finding.graphs)) : null],
	"order-dependent": finding => [failure(finding), orders(finding)],
	"assumption": finding => [failure(finding), h("h3", null, "Fails from level"),
		h("div", {class: "levels"}, LEVELS.map(level => h("span", {class: level === finding.level ? "now" : ""}, level))),
		h("p", {class: "quiet"}, plural(finding.failures, "failure") + " in " + plural(finding.runs, "run") + " at this level; seed " + finding.failing_seed +
			(finding.probability === undefined ? "" : "; fails with probability " + finding.probability)),
		(finding.calls || []).map(call)],
	"schedule": finding => [failure(finding), h("h3", null, "The work that comes " + finding.direction),
		frames((finding.event || {}).stack, "Begins in"),
		bounds(finding), h("p", {class: "quiet"}, "By " + Math.round(1000 * finding.margin) + " ms; found in " + plural(finding.runs, "run")),
		timeline(finding.timeline || [])],
	"repair": finding => [h("p", null, h("span", {class: "pill " + (finding.proven ? "proven" : "open")}, finding.proven ? "proven" : "not proven"), " ",
			h("span", {class: "quiet"}, plural(finding.tried, "candidate") + " tried; for "), h("a", {href: "#" + finding.finding}, finding.finding)),
		finding.function ? h("p", null, "Calls ", h("code", null, finding.function)) : null,
		finding.patch ? diff(finding.patch) : h("p", {class: "quiet"}, "No patch was found.")],
	"flaky": finding => [failure(finding), h("p", {class: "quiet"}, "Failed in " + finding.failures + " of " + plural(finding.runs, "identical run")),
		h("details", null, h("summary", null, "In this order"), h("ol", {class: "frames"}, (finding.order || []).map(name => h("li", null, name))))],
};
const failure = finding => finding.failure && (finding.failure.message || finding.failure.file) ? [h("h3", null, "How it fails"),
	finding.failure.message ? h("pre", {class: "wrap", tabindex: 0}, finding.failure.message) : null, excerpt(finding.failure, "")] : null;
const hint = finding => finding.hint ? h("p", {class: "hint"}, h("b", null, "What to do: "), finding.hint) : null;
const reproduce = finding => [again(finding.replay, "Copy the command that reproduces it"),
	finding.replay.startsWith("polygraph replay ") ? again(finding.replay + " --gdb", "Copy the command that starts the debugger at the failure") : null];
/* @hinted: what to do stands above already. */
const findingBlock = (finding, hinted) => h("section", {class: "finding", id: finding.id, tabindex: -1, "aria-label": finding.message},
	h("div", {class: "line"}, h("span", {class: "pill " + finding.severity}, finding.severity),
		h("span", {class: "pill kind"}, finding.class || finding.kind), finding.known ? h("span", {class: "pill"}, finding.suppressed ? "suppressed" : "known") : null,
		finding.earlier ? h("span", {class: "pill"}, "of an earlier run") : null, testButton(finding.test, ""),
		h("a", {class: "id", href: "#" + finding.id}, finding.id)),
	h("p", {class: "message"}, finding.message),
	hinted ? null : hint(finding),
	(details[finding.kind] || (() => null))(finding),
	reproduce(finding));

/* ---- cards ---- */

const TYPES = {memory: "variable", file: "file", process: "process state", call: "call", left: "left behind", test: "test"};
const testButton = (name, kind) => h("button", {class: "test " + kind, type: "button", title: "Show only this test",
	onclick: () => setSearch(name)}, name);
const tests = (title, list, kind) => list.length ? h("div", null, h("dt", null, title + " (" + list.length + ")"),
	h("dd", null, list.slice(0, FEW).map(name => testButton(name, kind)), list.length > FEW ? h("span", {class: "quiet"}, "and " + (list.length - FEW) + " more") : null)) : null;
const why = cause => {
	const parts = [];
	if (cause.leave.length)
		parts.push("left by " + (cause.leave.length === 1 ? cause.leave[0] : plural(cause.leave.length, "test")));
	if (cause.misled.length)
		parts.push((cause.type === "call" || cause.type === "test" ? "" : "decides about ") + (cause.misled.length === 1 ? cause.misled[0] : plural(cause.misled.length, "test")));
	if (cause.could.length)
		parts.push("read by " + plural(cause.could.length, "other test"));
	return parts.join(" · ");
};
const who = cause => h("dl", {class: "who"}, tests("Leave it changed", cause.leave, "leave"), tests("Depend on it", cause.misled, "misled"),
	tests("Read it, and could be", cause.could, "could"), tests("Undo it", cause.cleaners, "cleaners"));
/* The finding that a cause begins with in the text as well. */
const leadOf = cause => findings[cause.findings.find(i => !findings[i].known) ?? cause.findings[0]];
const fillBody = (cause, body) => {
	const list = h("div"), lead = leadOf(cause), about = more.kinds[lead.kind];
	let at = 0;
	const button = h("button", {class: "more", type: "button", onclick: () => addSome()});
	const addSome = until => {
		const end = Math.min(cause.findings.length, Math.max(at + FEW, until || 0));
		for (; at < end; at++)
			list.append(findingBlock(findings[cause.findings[at]], findings[cause.findings[at]] === lead));
		button.textContent = "Show more (" + (cause.findings.length - at) + " left)";
		button.classList.toggle("hidden", at === cause.findings.length);
	};
	body.append(...[hint(lead)].filter(one => one), who(cause));
	const pictured = cause.pictured === undefined ? "the test" : findings[cause.pictured].test;
	if (more.no_pictures)
		body.append(h("p", {class: "undrawn"}, more.no_pictures));
	if (cause.graph && cause.leave.length + cause.misled.length > 1)
		body.append(picture(cause.graph, "Which tests leave it changed, and which depend on it", "relations") || "");
	if (cause.before && cause.after)
		body.append(h("details", {open: true}, h("summary", null, cause.name + " before and after ", pictured), h("div", {class: "sides"},
			h("figure", null, h("figcaption", null, "before " + pictured), picture(cause.before, cause.name + " before " + pictured) || ""),
			h("figure", null, h("figcaption", null, "after " + pictured), picture(cause.after, cause.name + " after " + pictured) || ""))));
	if (about)
		body.append(h("details", null, h("summary", null, "What this means"), h("p", {class: "message"}, about.about), h("p", {class: "quiet"}, "More in " + about.help)));
	body.append(h("h3", null, plural(cause.findings.length, "finding")), list, button);
	addSome();
	body.addSome = addSome;
};
const makeCard = cause => {
	const body = h("div", {class: "body hidden"});
	const head = h("button", {type: "button", "aria-expanded": "false", onclick: () => toggle()},
		h("span", {class: "pill " + cause.severity}, cause.severity), h("span", {class: "title"}, leadOf(cause).headline || leadOf(cause).message),
		h("span", {class: "turn", "aria-hidden": "true"}, "▸"),
		h("span", {class: "why"}, h("span", {class: "quiet"}, TYPES[cause.type] + (cause.fresh ? "" : ", known") + " "), h("span", {class: "name"}, cause.name), [leadOf(cause).suite && "in " + leadOf(cause).suite, why(cause)].filter(one => one).map(one => " · " + one)));
	const card = h("article", {class: "card " + cause.severity}, h("header", null, head), body);
	const toggle = open => {
		const now = open === undefined ? body.classList.contains("hidden") : open;
		if (now && !body.firstChild)
			fillBody(cause, body);
		body.classList.toggle("hidden", !now);
		card.classList.toggle("open", now);
		head.setAttribute("aria-expanded", now);
	};
	card.toggle = toggle;
	card.head = head;
	card.replay = leadOf(cause).replay;
	return card;
};

/* ---- the filter ---- */

const filter = {severity: new Set(), kind: new Set(), state: new Set(), search: ""};
const everything = causes.map(cause => {
	const own = cause.findings.map(i => findings[i]);
	return {
		cause, severities: new Set(own.map(one => one.severity)), kinds: new Set(own.map(one => one.kind)),
		fresh: own.some(one => !one.known), known: own.some(one => one.known),
		text: [cause.name, ...cause.leave, ...cause.misled, ...cause.could, ...cause.cleaners, ...own.map(one => one.id + " " + one.test)].join("\n").toLowerCase(),
	};
});
const matches = one => (!filter.severity.size || [...filter.severity].some(value => one.severities.has(value))) &&
	(!filter.kind.size || [...filter.kind].some(value => one.kinds.has(value))) &&
	(!filter.state.size || (filter.state.has("new") && one.fresh) || (filter.state.has("known") && one.known)) &&
	(!filter.search || one.text.includes(filter.search));
const list = h("div", {id: "cards", role: "feed", "aria-label": "Causes"});
const rest = h("div", {class: "rest"});
const count = h("span", {class: "shown", role: "status"});
let visible = [], made = 0;
const watcher = new IntersectionObserver(entries => {
	if (entries.some(entry => entry.isIntersecting) && made < visible.length)
		addCards();
}, {rootMargin: "600px"});
const addCards = until => {
	const end = Math.min(visible.length, Math.max(made + CHUNK, until || 0));
	const cards = [];
	for (; made < end; made++)
		cards.push(visible[made].card || (visible[made].card = makeCard(visible[made].cause)));
	list.append(...cards);
	/* Asked anew: it may be in view as it was before. */
	watcher.unobserve(rest);
	watcher.observe(rest);
};
const applyFilter = () => {
	visible = everything.filter(matches);
	made = 0;
	list.replaceChildren();
	addCards();
	count.textContent = visible.length === everything.length ? plural(visible.length, "cause") : visible.length.toLocaleString("en") + " of " + plural(everything.length, "cause");
	if (!visible.length)
		list.append(h("p", {class: "empty"}, everything.length ? "Nothing matches. Esc shows everything again." : "Nothing was found."));
};
const chips = (key, choices) => choices.length > 1 || key === "severity" ? h("div", {class: "group", role: "group", "aria-label": key}, choices.map(choice =>
	h("button", {class: "chip", type: "button", "data-key": key, "data-value": choice, "aria-pressed": "false", onclick: event => {
		const on = !filter[key].has(choice);
		filter[key][on ? "add" : "delete"](choice);
		event.currentTarget.setAttribute("aria-pressed", on);
		applyFilter();
	}}, choice))) : null;
const present = (all, of) => all.filter(one => findings.some(finding => of(finding) === one));
const search = h("input", {type: "search", id: "search", placeholder: "Test, variable or id  ( / )", "aria-label": "Show only this test, variable or id", autocomplete: "off", spellcheck: "false", oninput: () => {
	filter.search = search.value.trim().toLowerCase();
	applyFilter();
}});
const setSearch = text => {
	search.value = text;
	filter.search = text.trim().toLowerCase();
	selectTab("findings");
	applyFilter();
	window.scrollTo({top: filters.offsetTop - 10});
};
const clearFilter = () => {
	for (const key of ["severity", "kind", "state"])
		filter[key].clear();
	filter.search = search.value = "";
	for (const chip of document.querySelectorAll(".chip"))
		chip.setAttribute("aria-pressed", "false");
	applyFilter();
};
const filters = h("div", {class: "filters"}, chips("severity", present(["high", "medium", "low"], one => one.severity)),
	chips("kind", present(["order-dependent", "pollution", "schedule", "assumption", "flaky"], one => one.kind)),
	chips("state", present(["new", "known"], one => one.known ? "known" : "new")), search, count);

/* ---- links to findings ---- */

const byId = new Map();
everything.forEach((one, i) => one.cause.findings.forEach((number, j) => byId.set(findings[number].id, [i, j])));
const goTo = id => {
	const found = byId.get(id);
	if (!found)
		return;
	selectTab("findings");
	const one = everything[found[0]];
	if (!visible.includes(one))
		clearFilter();
	const at = visible.indexOf(one);
	if (at >= made && at < made + 1000) {
		addCards(at + 1);
	} else if (at >= made) {
		/* Too far away: it is shown first. */
		one.card = one.card || makeCard(one.cause);
		list.prepend(h("p", {class: "pin"}, "The finding of the link; the others follow."), one.card);
	}
	one.card.toggle(true);
	one.card.querySelector(".body").addSome(found[1] + 1);
	for (const old of document.querySelectorAll(".finding.target"))
		old.classList.remove("target");
	const block = document.getElementById(id);
	block.classList.add("target");
	block.scrollIntoView({block: "start"});
	block.focus({preventScroll: true});
};
const followLink = () => {
	let id = location.hash.slice(1);
	try {
		id = decodeURIComponent(id);
	} catch (error) {
		return;
	}
	goTo(id);
};

/* ---- the trace: every test a point, the worst it has to do with its height ---- */

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const WEIGHT = {low: 1, medium: 2, high: 3};
const weights = new Map();
const weigh = (name, weight) => weights.set(name, Math.max(weights.get(name) || 0, weight));
for (const finding of findings)
	weigh(finding.test, WEIGHT[finding.severity]);
const traced = report.tests.length ? report.tests : [...weights.keys()].map(name => ({name}));
const trace = h("canvas", {role: "img", "aria-label": "All tests in their order; peaks are tests with findings"});
const traceTold = h("span", {class: "told"});
const drawTrace = () => {
	const width = trace.clientWidth, height = trace.clientHeight, scale = window.devicePixelRatio || 1;
	if (!width)
		return;
	trace.width = width * scale;
	trace.height = height * scale;
	const pen = trace.getContext("2d");
	pen.scale(scale, scale);
	pen.strokeStyle = css("--line");
	pen.lineWidth = 1;
	for (let x = 0; x < width; x += 18) {
		pen.beginPath();
		pen.moveTo(x + .5, 0);
		pen.lineTo(x + .5, height);
		pen.stroke();
	}
	const middle = height * .72, left = 14, room = width - 28, n = traced.length;
	/* Of many tests, the worst of those that share a column. */
	const points = Math.min(n, Math.max(2, Math.floor(room / 4)));
	const heights = new Array(points).fill(0);
	traced.forEach((test, i) => {
		const at = Math.min(points - 1, Math.floor(i * points / n));
		heights[at] = Math.max(heights[at], weights.get(test.name) || 0);
	});
	const step = room / Math.max(points - 1, 1), wide = Math.max(1.6, Math.min(step * .3, 5));
	const peaks = heights.map((weight, i) => [left + i * step, weight]).filter(([, weight]) => weight);
	const bump = (x, at, spread) => Math.exp(-(((x - at) / spread) ** 2));
	const level = x => {
		let y = Math.sin(x * .11) * 1.8 + Math.sin(x * .047 + 1) * 2.4 + Math.sin(x * .31) * .7;
		for (const [at, weight] of peaks) {
			if (Math.abs(x - at) < 12 * wide)
				y += weight * height * (.2 * bump(x, at, wide) - .055 * bump(x, at + 2.6 * wide, wide) - .03 * bump(x, at - 2.6 * wide, wide));
		}
		return middle - y;
	};
	const line = (from, to) => {
		pen.beginPath();
		for (let x = from; x <= to; x += .5)
			pen.lineTo(x, level(x));
		pen.stroke();
	};
	pen.lineJoin = "round";
	pen.lineWidth = 1.5;
	pen.strokeStyle = css("--good");
	line(0, width);
	for (const [weight, color] of [[1, "--low"], [2, "--medium"], [3, "--high"]]) {
		pen.strokeStyle = pen.fillStyle = css(color);
		pen.lineWidth = 2;
		for (const [at, own] of peaks) {
			if (own !== weight)
				continue;
			line(at - 4 * wide, at + 5 * wide);
			pen.beginPath();
			pen.arc(at, level(at), 2.4, 0, 7);
			pen.fill();
		}
	}
};
const testAt = event => {
	const box = trace.getBoundingClientRect(), share = (event.clientX - box.left - 14) / Math.max(box.width - 28, 1);
	return traced[Math.max(0, Math.min(traced.length - 1, Math.round(share * (traced.length - 1))))];
};
trace.addEventListener("mousemove", event => {
	const test = testAt(event);
	if (test)
		traceTold.textContent = shown(test.name) + (test.outcome ? " – " + test.outcome : "");
});
trace.addEventListener("mouseleave", () => { traceTold.textContent = ""; });
trace.addEventListener("click", event => {
	const test = testAt(event);
	if (test && weights.get(test.name))
		setSearch(test.name);
});

/* ---- the matrix of pairs ---- */

/* The page of a build has its findings; how each suite was searched is not in it. */
const ofBuild = report.suite.framework === "build" &&
	"Each suite of this build was searched by itself. The page of one suite shows it: polygraph check -o suite.html EXECUTABLE.";

const PAIRS = {p: ["tried: the second passes, as alone", "--tried"], s: ["the first leaves nothing behind", "--state"],
	f: ["the first makes the second fail", "--high"], m: ["the second fails alone; the first makes it pass", "--good"],
	a: ["the second fails, as alone", "--medium"], ".": ["open", "--open"], "-": ["one test, or not allowed", "--line"]};
const order = report.order;
const matrixPanel = () => {
	if (!order)
		return h("div", {class: "panel"}, h("h2", null, "Pairs"), h("p", null, ofBuild || "Orders were not searched in this run."));
	const rows = order.matrix, names = order.tests || [];
	const head = [h("h2", null, "Pairs of tests"), h("p", null, plural(order.pairs.all, "pair") + ": " + order.pairs.tried.toLocaleString("en") +
		" tried, " + order.pairs.by_state.toLocaleString("en") + " proven by state, " + plural(order.orders, "whole order") + " run.")];
	if (!rows || !rows.length)
		return h("div", {class: "panel"}, head, h("p", null, "There are too many tests to draw each pair."));
	/* Tests that need another one before them fail after all others, too. */
	const brittle = new Set(findings.filter(one => one.class === "brittle").map(one => one.test));
	const pair = (i, j) => "ps".includes(rows[i][j]) && brittle.has(names[j]) ? "a" : PAIRS[rows[i][j]] ? rows[i][j] : ".";
	const used = new Set(rows.flatMap((row, i) => [...row].map((_, j) => pair(i, j))));
	const wide = Math.min(document.documentElement.clientWidth, 1216) - 80;
	/* Names stand at both sides where rows are high enough for them. */
	const longest = Math.min(210, wide * .4, 8 + 6.7 * Math.max(...names.map(name => name.length)));
	const named = (wide - longest) / rows.length >= 7;
	const size = named ? Math.min(20, Math.floor((wide - longest) / rows.length)) : Math.max(2, Math.min(20, Math.floor(wide / rows.length)));
	const canvas = h("canvas", {tabindex: 0, role: "img", "aria-label": "Matrix of pairs; arrow keys go through it"});
	const told = h("div", {class: "told", role: "status"});
	let x = 0, y = 0;
	const margin = named ? Math.ceil(longest) : 0, letters = Math.min(11, size);
	/* From its end where it does not fit: that is what tells tests of a suite apart. */
	const fitted = (pen, name) => {
		let text = shown(name);
		while (text.length > 1 && pen.measureText(text).width > margin - 6)
			text = "…" + text.replace(/^…/, "").slice(1);
		return text;
	};
	const draw = () => {
		const n = rows.length, scale = window.devicePixelRatio || 1, gap = size > 6 ? 1 : 0;
		canvas.width = (n * size + margin) * scale;
		canvas.height = (n * size + margin) * scale;
		canvas.style.width = n * size + margin + "px";
		canvas.style.height = n * size + margin + "px";
		const pen = canvas.getContext("2d"), colors = {};
		pen.scale(scale, scale);
		pen.font = letters + "px " + css("--mono");
		pen.textAlign = "right";
		pen.textBaseline = "middle";
		for (let i = 0; margin && i < n; i++) {
			const text = fitted(pen, names[i]);
			pen.fillStyle = css(i === y ? "--ink" : "--soft");
			pen.fillText(text, margin - 5, margin + (i + .5) * size);
			pen.save();
			pen.translate(margin + (i + .5) * size, margin - 5);
			pen.rotate(Math.PI / 2);
			pen.fillStyle = css(i === x ? "--ink" : "--soft");
			pen.fillText(text, 0, 0);
			pen.restore();
		}
		pen.translate(margin, margin);
		for (const [key, [, color]] of Object.entries(PAIRS))
			colors[key] = css(color);
		for (let i = 0; i < n; i++) {
			for (let j = 0; j < n; j++) {
				pen.fillStyle = colors[pair(i, j)];
				pen.fillRect(j * size, i * size, size - gap, size - gap);
			}
		}
		if (document.activeElement === canvas) {
			pen.strokeStyle = css("--ink");
			pen.lineWidth = 2;
			pen.strokeRect(x * size, y * size, Math.max(size - gap, 3), Math.max(size - gap, 3));
		}
	};
	const tell = () => {
		told.textContent = shown(names[y]) + " → " + shown(names[x]) + ": " + PAIRS[pair(y, x)][0];
	};
	const move = event => {
		const box = canvas.getBoundingClientRect();
		x = Math.max(0, Math.min(rows.length - 1, Math.floor((event.clientX - box.left - margin) / size)));
		y = Math.max(0, Math.min(rows.length - 1, Math.floor((event.clientY - box.top - margin) / size)));
		draw();
		tell();
	};
	canvas.addEventListener("mousemove", move);
	canvas.addEventListener("click", event => {
		move(event);
		if ("fm".includes(rows[y][x]))
			setSearch(names[x]);
	});
	canvas.addEventListener("keydown", event => {
		const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
		if (!step)
			return;
		event.preventDefault();
		x = Math.max(0, Math.min(rows.length - 1, x + step[0]));
		y = Math.max(0, Math.min(rows.length - 1, y + step[1]));
		draw();
		tell();
	});
	for (const name of ["focus", "blur"])
		canvas.addEventListener(name, draw);
	redraws.push(draw);
	const executed = (order.executed || []).slice(0, 100);
	const swatch = color => {
		const box = h("i");
		box.style.background = "var(" + color + ")";
		return box;
	};
	return h("div", {class: "panel"}, head,
		h("div", {class: "legend"}, Object.entries(PAIRS).filter(([key]) => used.has(key)).map(([, [text, color]]) => h("span", null, swatch(color), text))),
		h("p", null, "Row: the test that runs first. Column: the test right after it."), told, h("div", {class: "matrix"}, canvas),
		executed.length ? h("details", null, h("summary", null, plural(order.executed.length + order.executed_more, "whole order") + " executed"),
			executed.map((one, i) => h("details", null, h("summary", null, "Order " + (i + 1) + ": " + (one.differing.length ? plural(one.differing.length, "test") + " went another way" : "all as alone")),
				h("p", {class: "mono"}, one.order.slice(0, 500).join(" → "))))) : null);
};

/* ---- tests and roots ---- */

const MARKS = {leave: ["●", "leaves it changed"], misled: ["✕", "depends on it"], could: ["○", "reads it"], cleaners: ["◇", "undoes it"]};
const mapPanel = () => {
	const rows = causes.filter(cause => cause.type !== "test" && cause.leave.length + cause.misled.length + cause.could.length).slice(0, 80);
	const names = new Map();
	for (const cause of rows) {
		for (const key of ["leave", "misled"])
			cause[key].forEach(name => names.set(name, 1));
	}
	for (const cause of rows)
		cause.could.concat(cause.cleaners).forEach(name => names.size < 80 && names.set(name, 1));
	const position = new Map(report.tests.map((test, i) => [test.name, i]));
	const columns = [...names.keys()].slice(0, 80).sort((a, b) => (position.get(a) || 0) - (position.get(b) || 0));
	if (!rows.length)
		return h("div", {class: "panel"}, h("h2", null, "Tests and shared state"), h("p", null, "No test leaves state that others read."));
	const sets = rows.map(cause => Object.fromEntries(Object.keys(MARKS).map(key => [key, new Set(cause[key])])));
	return h("div", {class: "panel"}, h("h2", null, "Tests and shared state"),
		h("p", null, "Who leaves which state changed, and who has to do with it." + (causes.length > rows.length || names.size > columns.length ? " The worst " + rows.length + " of " + plural(causes.length, "cause") + "." : "")),
		h("div", {class: "legend"}, Object.values(MARKS).map(([mark, text]) => h("span", null, h("b", null, mark), " ", text))),
		/* On a phone a table of names has no room: the same as lists. */
		rows.map(cause => h("section", {class: "map-list"}, h("a", {href: "#" + findings[cause.findings[0]].id}, cause.name), who(cause))),
		h("div", {class: "map", tabindex: 0}, h("table", null, h("thead", null, h("tr", null, h("th"), columns.map(name => h("th", {scope: "col", title: name}, h("div", null, name))))),
			h("tbody", null, rows.map((cause, i) => h("tr", null, h("th", {scope: "row", title: cause.name}, h("a", {href: "#" + findings[cause.findings[0]].id}, cause.name)),
				columns.map(name => {
					const key = ["misled", "leave", "cleaners", "could"].find(one => sets[i][one].has(name));
					return h("td", null, key ? h("b", {class: key, title: name + " " + MARKS[key][1]}, MARKS[key][0]) : null);
				})))))));
};

/* ---- choices ---- */

const choicesPanel = () => {
	const reach = report.choices;
	if (!reach)
		return h("div", {class: "panel"}, h("h2", null, "Choices"), h("p", null, ofBuild || "What APIs leave open was not varied in this run."));
	const outcomes = reach.outcomes || [], seeds = [...new Set(outcomes.map(one => one.seed))].sort((a, b) => a - b).slice(0, 60);
	const of = new Map(outcomes.map(one => [one.level + " " + one.seed, one]));
	const told = h("div", {class: "told", role: "status"});
	return h("div", {class: "panel"}, h("h2", null, "Choices"), h("p", null, plural(reach.runs, "run") + " with choices, " + reach.acted.toLocaleString("en") + " of " +
		plural(reach.made, "call") + " varied; " + (reach.models || []).length + " of " + reach.models_all + " models had something to choose."),
		outcomes.length ? [told, h("div", {class: "grid"}, h("table", null, h("thead", null, h("tr", null, h("th", null, "level"), seeds.map(seed => h("th", {scope: "col"}, "seed " + seed)))),
			h("tbody", null, LEVELS.filter(level => outcomes.some(one => one.level === level)).map(level => h("tr", null, h("th", {scope: "row"}, level), seeds.map(seed => {
				const one = of.get(level + " " + seed);
				if (!one)
					return h("td", {class: "quiet"}, "–");
				const text = one.failed.length ? one.failed.slice(0, 20).join(", ") + " failed" : "no test failed";
				return h("td", {class: one.failed.length ? "bad" : "", title: text, tabindex: 0, onfocus: () => { told.textContent = shown(text); }}, one.failed.length || "✓");
			}))))))] : null,
		(reach.models || []).length ? h("p", null, "Varied: " + reach.models.join(", ")) : null);
};

/* ---- the run ---- */

const runPanel = () => {
	const phases = run.phases || [], all = Math.max(run.seconds || 0, ...phases.map(one => one.start + one.seconds), 1e-9);
	const bar = h("div", {class: "time", role: "img", "aria-label": "Time line"}, phases.map((phase, i) => {
		const box = h("div", {class: "p" + i % 4, title: phase.name + ": " + seconds(phase.seconds)}, phase.name + " " + seconds(phase.seconds));
		box.style.left = phase.start / all * 100 + "%";
		box.style.width = phase.seconds / all * 100 + "%";
		return box;
	}));
	const facts = [["Command", "polygraph " + (run.command || "")], ["Suite", (report.suite.command || []).join(" ")], ["Framework", report.suite.framework], ["Started", run.started], ["Took", run.seconds === undefined ? null : seconds(run.seconds)],
		["Exit status", run.exit_status], ["Working directory", run.folder], ["Sources", run.sources], ["Build id", run.build_id], ["Options", (run.options || []).join(" ")], ["Version", report.polygraph]];
	const limits = [...report.limits, ...more.no_pictures ? [more.no_pictures] : []];
	return h("div", null, h("div", {class: "panel"}, h("h2", null, "Time"), phases.length ? [bar, h("table", {class: "table"}, h("thead", null, h("tr", null, ["Phase", "Began after", "Took", "Tests run"].map(text => h("th", {scope: "col"}, text)))),
		h("tbody", null, phases.map(one => h("tr", null, h("td", null, one.name), h("td", null, seconds(one.start)), h("td", null, seconds(one.seconds)), h("td", null, (one.executions || 0).toLocaleString("en"))))))] : h("p", null, ofBuild || "Not known.")),
		h("div", {class: "panel"}, h("h2", null, "The run"), h("dl", {class: "facts"}, facts.filter(([, text]) => text !== null && text !== undefined && text !== "").map(([name, text]) => [h("dt", null, name), h("dd", {class: "mono"}, text)]))),
		limits.length ? h("div", {class: "panel"}, h("h2", null, "What was not done"), h("ul", null, limits.map(text => h("li", null, text)))) : null,
		h("div", {class: "panel"}, h("h2", null, plural(report.tests.length, "test")), testTable()));
};
const testTable = () => {
	const body = h("tbody");
	let at = 0;
	const button = h("button", {class: "more", type: "button", onclick: () => add()});
	const add = () => {
		const end = Math.min(report.tests.length, at + 200);
		for (; at < end; at++) {
			const test = report.tests[at];
			body.append(h("tr", null, h("td", null, testButton(test.name, "")), h("td", null, h("span", {class: "pill " + (test.outcome === "pass" ? "good" : test.outcome === "skip" ? "" : "high")}, test.outcome || "")),
				h("td", {class: "nowrap"}, test.seconds === undefined ? "" : seconds(test.seconds)), h("td", {class: "quiet mono"}, place(test))));
		}
		button.textContent = "Show more (" + (report.tests.length - at) + " left)";
		button.classList.toggle("hidden", at === report.tests.length);
	};
	add();
	return [h("table", {class: "table"}, h("thead", null, h("tr", null, ["Test", "Outcome", "Took", "Place"].map(text => h("th", {scope: "col"}, text)))), body), button];
};

/* ---- the page ---- */

const redraws = [drawTrace];
const TABS = {findings: ["Findings", null], map: ["Shared state", mapPanel], pairs: ["Pairs", matrixPanel], choices: ["Choices", choicesPanel], run: ["Run", runPanel]};
const panels = {}, tabs = {};
const selectTab = id => {
	for (const key of Object.keys(TABS)) {
		const on = key === id;
		tabs[key].setAttribute("aria-selected", on);
		tabs[key].tabIndex = on ? 0 : -1;
		panels[key].classList.toggle("hidden", !on);
		if (on && TABS[key][1] && !panels[key].firstChild) {
			panels[key].append(TABS[key][1]());
			redraws.slice(1).forEach(draw => draw());
		}
	}
};
for (const [key, [title]] of Object.entries(TABS)) {
	tabs[key] = h("button", {type: "button", role: "tab", id: "tab-" + key, "aria-controls": "panel-" + key, onclick: () => selectTab(key)}, title);
	panels[key] = h("section", {id: "panel-" + key, role: "tabpanel", "aria-labelledby": "tab-" + key, class: "hidden"});
}
panels.findings.append(filters, list, rest);
const tabList = h("div", {class: "tabs", role: "tablist", onkeydown: event => {
	const keys = Object.keys(TABS), now = keys.findIndex(key => tabs[key].tabIndex === 0);
	const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
	if (!step)
		return;
	const next = keys[(now + step + keys.length) % keys.length];
	selectTab(next);
	tabs[next].focus();
}}, Object.values(tabs));
/* Causes, counted where the exit status comes from; a report that does not say it has its cards. */
const problems = (report.totals || {}).problems || Object.fromEntries([...["high", "medium", "low"].map(severity =>
	[severity, causes.filter(one => one.severity === severity).length]), ["new", causes.filter(one => one.fresh).length]]);
const counts = severity => problems[severity];
const all = problems.high + problems.medium + problems.low;
const outcomes = {};
for (const test of report.tests)
	outcomes[test.outcome] = (outcomes[test.outcome] || 0) + 1;
const tile = (number, text, kind) => h("div", {class: "tile " + (kind || "")}, h("b", null, number), h("span", null, text));
const setTheme = dark => {
	document.documentElement.classList.toggle("dark", dark);
	redraws.forEach(draw => draw());
};
const stored = () => {
	try {
		return localStorage.getItem("polygraph-theme");
	} catch (error) {
		return null;
	}
};
const media = window.matchMedia("(prefers-color-scheme: dark)");
const themeButton = h("button", {class: "icon", type: "button", "aria-label": "Dark or light", onclick: () => {
	const dark = !document.documentElement.classList.contains("dark");
	setTheme(dark);
	try {
		localStorage.setItem("polygraph-theme", dark ? "dark" : "light");
	} catch (error) {
		/* It is asked again next time. */
	}
}}, "◐ Theme");
const keys = h("dialog", {"aria-label": "Keys"}, h("h2", null, "Keys"), h("dl", {class: "facts"}, [["j k", "next and previous cause"], ["Enter", "open or close it"], ["c", "copy the command that reproduces it"], ["/", "search"], ["Esc", "show everything"], ["1 – 5", "the tabs"], ["t", "dark or light"], ["?", "these keys"]].map(([key, text]) => [h("dt", null, h("kbd", null, key)), h("dd", null, text)])),
	h("button", {class: "more", type: "button", onclick: () => keys.close()}, "Close"));
const first = causes.length ? leadOf(causes[0]) : null;
document.getElementById("page").append(
	h("div", {class: "top"}, h("span", {class: "brand"}, "poly", h("span", null, "graph")), h("code", {class: "suite"}, (report.suite.command || []).join(" ")),
		h("button", {class: "icon", type: "button", "aria-label": "Keys", onclick: () => keys.showModal()}, "? Keys"), themeButton),
	h("h1", {class: causes.length ? "" : "fine"}, causes.length ? [h("b", null, plural(all, "problem")), problems.new < all ? " (" + plural(problems.new, "new one", "new ones") + ")" : "", " in " + plural(report.suite.tests, "test")] :
		[h("b", null, "No problem"), " found in " + plural(report.suite.tests, "test")]),
	h("p", {class: "lead"}, first ? ["Start with ", h("code", null, first.replay)] : "What was tried is under “Run”."),
	h("figure", {class: "trace"}, trace, h("figcaption", null, h("span", null, "every test in its order; peaks have findings"), traceTold)),
	h("div", {class: "tiles"}, tile(counts("high"), "high", counts("high") ? "high" : ""), tile(counts("medium"), "medium", counts("medium") ? "medium" : ""), tile(counts("low"), "low"),
		tile((outcomes.pass || 0) + " of " + report.tests.length, "tests pass in their own order", (outcomes.pass || 0) === report.tests.length ? "good" : "high"), run.seconds === undefined ? null : tile(seconds(run.seconds), "of searching")),
	tabList, ...Object.values(panels), keys);
document.addEventListener("keydown", event => {
	const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
	if (event.ctrlKey || event.metaKey || event.altKey || keys.open)
		return;
	if (event.key === "Escape") {
		clearFilter();
		search.blur();
	} else if (typing) {
		return;
	} else if (event.key === "/") {
		event.preventDefault();
		selectTab("findings");
		search.focus();
	} else if (event.key === "j" || event.key === "k") {
		selectTab("findings");
		let cards = [...list.querySelectorAll(".card")];
		const now = cards.indexOf(document.activeElement.closest(".card")), next = now + (event.key === "j" ? 1 : -1);
		if (next >= cards.length) {
			addCards();
			cards = [...list.querySelectorAll(".card")];
		}
		if (cards[Math.max(next, 0)])
			cards[Math.max(next, 0)].head.focus();
	} else if (event.key === "c") {
		const card = document.activeElement.closest(".card");
		const button = (document.activeElement.closest(".finding") || card || document).querySelector(".copy");
		if (button)
			button.click();
		else if (card)
			copyText(card.replay);
	} else if (event.key === "t") {
		themeButton.click();
	} else if (event.key === "?") {
		keys.showModal();
	} else if (event.key >= "1" && event.key <= "5") {
		selectTab(Object.keys(TABS)[event.key - 1]);
	}
});
window.addEventListener("hashchange", followLink);
window.addEventListener("resize", () => redraws.forEach(draw => draw()));
window.addEventListener("beforeprint", () => {
	addCards(300);
	visible.slice(0, 100).forEach(one => one.card && one.card.toggle(true));
});
media.addEventListener("change", event => stored() || setTheme(event.matches));
selectTab("findings");
applyFilter();
setTheme(stored() ? stored() === "dark" : media.matches);
if (location.hash)
	followLink();
})();
