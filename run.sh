PYTHONPATH=.:tests /work/main/.venv/bin/python -m pytest -q -n 0 "$@"
