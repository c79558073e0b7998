"""A real browser without a window, through the WebDriver protocol of chromedriver."""

import base64
import json
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

# Beyond this, something hangs; nothing here is expected to be quick.
SECONDS = 120
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         "--force-device-scale-factor=1"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004", "Left": "\ue012", "Right": "\ue014", "Down": "\ue015"}


def why_not():
    """Why there is no browser; None: there is one."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return f"{program} is not installed"
    return None


class Browser:
    def __init__(self, *flags, width=1200, height=900):
        self.folder = tempfile.TemporaryDirectory(prefix="polygraph-browser-", ignore_cleanup_errors=True)
        # A group of its own: the browser goes with its driver.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True, start_new_session=True)
        self.session = None
        try:
            self.address = f"http://127.0.0.1:{self.find_port()}"
            options = {"binary": shutil.which("chromium"),
                       "args": [*FLAGS, *flags, f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}"]}
            made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.session = "/session/" + made["sessionId"]
        except BaseException:
            self.close()
            raise

    def find_port(self):
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rsplit(" ", 1)[1].strip().rstrip("."))
        raise RuntimeError("chromedriver did not start")

    def close(self):
        if self.session:
            try:
                self.call("DELETE", self.session)
            except OSError:
                pass
        self.driver.send_signal(signal.SIGTERM)
        self.driver.wait()
        self.driver.stdout.close()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, method, path, body=None):
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, path, fragment=""):
        self.call("POST", self.session + "/url", {"url": f"file://{path}{fragment}"})

    def run(self, script, *arguments):
        """The value of a script, in the page."""
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self.call("POST", self.session + "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.call("POST", f"{self.session}/element/{self.find(selector)}/click")

    def type(self, selector, text):
        self.call("POST", f"{self.session}/element/{self.find(selector)}/value", {"text": text})

    def press(self, *keys):
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def wait(self, script, *arguments):
        """Until it is true; how long it takes does not matter."""
        end = time.monotonic() + SECONDS
        while not self.run("return " + script, *arguments):
            if time.monotonic() > end:
                raise AssertionError(f"never true: {script}")
            time.sleep(.05)

    def command(self, name, **parameters):
        return self.call("POST", self.session + "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def errors(self):
        """What the page complained about: scripts that failed, and what the policy forbade."""
        return [entry["message"] for entry in self.call("POST", self.session + "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", self.session + "/screenshot")))
