#!/bin/sh
# All four adapters of the recipe mscsql on a machine with a GPU: candidates, sets, training, export. Where it was
# killed, the same command goes on. At the end it says how to measure them.
#
#   benchmarks/train_gpu.sh SPIDER_DIR OUT_DIR [TRAIN_RUN]
#
# TRAIN_RUN is a finished `sqljury bench spider --split train`, whose candidates critic and pairwise judge learn from.
# Without it they are written here, on the processor, while generator and linker are trained on the GPU; with it the
# sets of the judges are made first, so that a run that may not be learned from is refused before hours of training. A
# set that is there is kept; where it was made from something else, the command is refused. The `sqljury`
# of PATH is taken; where there is none, the checkout's .venv is made, with the extra `train`.
#
# BASE      the weights to train on, a name of `sqljury models list`, a .gguf file or a Hugging Face folder
# SERVED    the local model that carries the adapters; BASE if it is not given, a folder needs one
# Added to the commands, here with what they are if not given:
# RUN_OPTIONS="--limit 600"      to the making of candidates
# SET_OPTIONS=""                 to the sets of linker and generator, such as "--limit 24" for a try
# JUDGED_OPTIONS="--gold never"   to the sets of critic and pairwise judge
# TRAIN_OPTIONS=""               to every training, such as "--max-steps 2"
# EXPORT_OPTIONS=""              to every export, such as "--check 0"
set -eu
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: $0 SPIDER_DIR OUT_DIR [TRAIN_RUN]" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
spider=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
run=$out/train
[ -z "${3:-}" ] || run=$3
base=${BASE:-qwen2.5-coder-1.5b}
served=${SERVED:-$base}
# Faults that would otherwise be noticed hours later.
if [ -n "${3:-}" ]; then
    if [ ! -f "$run/run.json" ]; then
        echo "$run is not a run: it has no run.json; give a folder of \`sqljury bench spider --split train\`" >&2
        exit 2
    fi
    run=$(cd "$run" && pwd)
fi
if [ -d "$served" ]; then
    echo "$served is a folder, which llama.cpp cannot run; name the local model or .gguf file with SERVED" >&2
    exit 2
fi

# What the set of a part is made from, one line; it is kept beside the set.
source_of() {
    case $1 in
    linker | generator) echo "$spider ${SET_OPTIONS-}" ;;
    *) echo "$spider $run ${JUDGED_OPTIONS---gold never}" ;;
    esac
}

for name in generator linker critic pairwise; do
    if [ -f "$out/$name.jsonl" ] && ! source_of "$name" | cmp -s - "$out/$name.source"; then
        echo "$out/$name.jsonl was made from something else than: $(source_of "$name"); give another OUT_DIR" >&2
        exit 2
    fi
done
if ! command -v sqljury >/dev/null; then
    make -C "$root" .venv/.train
    PATH="$root/.venv/bin:$PATH"
fi
sqljury=$(command -v sqljury)
python=$(dirname "$sqljury")/python
[ -x "$python" ] || python=python
for model in "$base" "$served"; do
    [ -e "$model" ] || sqljury models pull "$model"
done

# shellcheck disable=SC2086  # options are words
candidates() { # in a shell of its own, so that a signal reaches it
    exec sqljury bench spider --data "$spider" --split train --recipe "$root/benchmarks/recipes/mscsql_votes.toml" \
        --model "$served" --out "$run" ${RUN_OPTIONS---limit 600}
}

# shellcheck disable=SC2086
made() {
    set="$out/$1.jsonl"
    [ ! -f "$set" ] || return 0
    source_of "$1" >"$out/$1.source"
    case $1 in
    linker | generator) sqljury train data "$1" --data "$spider" --recipe mscsql --out "$set" ${SET_OPTIONS-} ;;
    *) sqljury train data "$1" --data "$spider" --run "$run" --recipe mscsql --out "$set" ${JUDGED_OPTIONS---gold never} ;;
    esac
}

# shellcheck disable=SC2086
part() {
    made "$1"
    set="$out/$1.jsonl"
    sqljury train "$1" "$set" --out "$out/$1" --base-model "$base" ${TRAIN_OPTIONS-}
    if [ ! -f "$out/$1.gguf" ]; then
        sqljury train export "$out/$1" --out "$out/$1.gguf" --precision q8_0 --served-model "$served" ${EXPORT_OPTIONS-}
    fi
}

# A recipe of the checkout ($1) with the adapters in it, in OUT_DIR.
adapted() {
    awk -v linker="$served+$out/linker.gguf" -v generator="$served+$out/generator.gguf" \
        -v critic="$served+$out/critic.gguf" '
        { print }
        $0 == "[link]" { print "model = \047" linker "\047" }
        $0 == "[[generate]]" { print "model = \047" generator "\047" }
        $0 == "selector = \"critic\"" { print "judge = \047" critic "\047" }
    ' "$1" >"$out/$(basename "$1")"
}

# Waits for the candidates; they are needed, so that all ends where they could not be made.
written() {
    wait "$writing" || { tail -n 5 "$out/train.log" >&2; exit 1; }
    writing=
}

stop() { # and wait: until the writer is gone, its folder is refused to the next one
    [ -z "$writing" ] || { kill "$writing" 2>/dev/null && wait "$writing" || :; }
}

writing=
if [ -n "${3:-}" ]; then
    made critic
    made pairwise
else
    candidates >"$out/train.log" 2>&1 &
    writing=$!
    trap stop EXIT
    trap 'exit 130' INT TERM
fi
part generator
[ -z "$writing" ] || kill -0 "$writing" 2>/dev/null || written
part linker
if [ -n "$writing" ]; then
    echo "waiting for the candidates; $out/train.log says how far they are" >&2
    written
fi
part critic
part pairwise
adapted "$root/src/sqljury/recipes/mscsql.toml"
adapted "$root/benchmarks/recipes/mscsql_votes.toml"

questions="--data '$spider' --limit 200"
cat <<END
All four adapters are in $out. To measure them, each beside what it is added to:
'$sqljury' bench spider $questions --model '$served' --recipe mscsql --out '$out/dev_plain' --analyze ablation
'$sqljury' bench spider $questions --model '$served' --recipe '$out/mscsql.toml' --out '$out/dev' --analyze ablation
'$sqljury' bench spider $questions --model '$served' --recipe '$root/benchmarks/recipes/mscsql_votes.toml' --out '$out/votes_plain' --analyze ablation
'$sqljury' bench spider $questions --model '$served' --recipe '$out/mscsql_votes.toml' --out '$out/votes' --analyze ablation
'$sqljury' bench select '$out/votes' --selector critic --model '$served+$out/critic.gguf'
'$sqljury' bench select '$out/votes' --selector tournament --model '$served+$out/pairwise.gguf'
'$sqljury' bench analyze '$out/votes' --what ablation
'$python' '$root/benchmarks/linker.py' $questions --split dev --model '$served+$out/linker.gguf' --out '$out/linker_dev.jsonl'
END
