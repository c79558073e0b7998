#!/usr/bin/env python3
"""Whether a JSON file is what a schema says, by the package jsonschema.

Usage: validate.py [--strict] SCHEMA FILE

--strict: objects have no other members than those that the schema lists. Exit status 1: it is not; 3: there is no such package.
"""

import json
import sys


def strict(schema):
    if isinstance(schema, dict):
        if "properties" in schema:
            schema["additionalProperties"] = False
        for value in schema.values():
            strict(value)
    elif isinstance(schema, list):
        for value in schema:
            strict(value)


def main():
    try:
        import jsonschema
    except ImportError:
        return 3
    paths = [word for word in sys.argv[1:] if word != "--strict"]
    schema, value = (json.load(open(path, encoding="utf-8")) for path in paths)
    if "--strict" in sys.argv:
        strict(schema)
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    errors = list(validator(schema, format_checker=jsonschema.FormatChecker()).iter_errors(value))
    for error in errors[:5]:
        best = jsonschema.exceptions.best_match([error])
        print("/".join(str(part) for part in best.absolute_path), best.message[:400])
    return 1 if errors else 0


sys.exit(main())
