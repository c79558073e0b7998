# shellcheck shell=sh
# Starts the program, and does something of its own.
for word in b a c; do
	test -n "$word" || exit 2
done
./commands "$1"
