#!/bin/sh
# All four adapters on a machine with a GPU: sets, training, export, one part after the other; run it again to go on.
#
#   benchmarks/train_gpu.sh SPIDER_DIR OUT_DIR [TRAIN_RUN]
#
# TRAIN_RUN is a finished `sqljury bench spider --split train --recipe benchmarks/recipes/light.toml`, whose candidates
# the critic and the pairwise judge learn from; without it only generator and linker are trained.
# BASE names other weights. SET_OPTIONS is added to the making of every set (such as "--limit 24" for a try),
# TRAIN_OPTIONS to every training (such as "--steps 4"), and
# EXPORT_OPTIONS to every export (such as "--check 0").
set -eu
spider=$1 out=$2 run=${3:-}
base=${BASE:-qwen2.5-coder-1.5b}
mkdir -p "$out"

# shellcheck disable=SC2086  # options are words
part() {
    set="$out/$1.jsonl"
    if [ ! -f "$set" ]; then
        if [ "$1" = critic ] || [ "$1" = pairwise ]; then
            sqljury train data "$1" --run "$run" --out "$set" ${SET_OPTIONS:-}
        else
            sqljury train data "$1" --data "$spider" --out "$set" ${SET_OPTIONS:-}
        fi
    fi
    sqljury train "$1" "$set" --out "$out/$1" --base "$base" ${TRAIN_OPTIONS:-}
    if [ ! -f "$out/$1.gguf" ]; then
        sqljury train export "$out/$1" --out "$out/$1.gguf" --precision q8_0 ${EXPORT_OPTIONS:-}
    fi
}

part generator
part linker
if [ -n "$run" ]; then
    part critic
    part pairwise
fi
