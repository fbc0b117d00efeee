#!/bin/sh
# Drives rhumb against servers that others wrote, on the loopback: aimock, which speaks all five formats and can misbehave in
# each, and llama.cpp with two models: one of random numbers that a grammar forces to say an edit, and one that calls tools.
# Both are installed from their registries into a temporary folder, which goes at the end, as do the servers.
#
#     tests/real_servers.sh [RHUMB]      default: target/debug/rhumb, which must be built
#     ONLY=aimock tests/real_servers.sh  without llama.cpp; ONLY=llama without aimock
#
# Needs npm, python3 with venv, curl and git. Ends with 0 if all went as it should, else with 1.
set -u

here=$(cd "$(dirname "$0")/real_servers" && pwd)
rhumb=$(realpath "${1:-$here/../../target/debug/rhumb}")
[ -x "$rhumb" ] || { echo "no program at $rhumb: cargo build first" >&2; exit 1; }
scratch=$(mktemp -d)
servers=""
failures=0

clean_up() {
    for server in $servers; do kill "$server" 2>/dev/null; done
    wait 2>/dev/null
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

die() {
    echo "$1" >&2
    exit 1
}

# Nothing of the user's own settings may play a part.
export HOME="$scratch/home" XDG_CONFIG_HOME="$scratch/home" XDG_CACHE_HOME="$scratch/home" XDG_STATE_HOME="$scratch/home"
unset RHUMB_API RHUMB_BASE_URL RHUMB_MODEL OPENAI_BASE_URL OPENAI_API_BASE OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY
export RHUMB_API_KEY=canary-of-the-real-servers
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
mkdir -p "$HOME"

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

wait_for() {
    for _ in $(seq 100); do
        curl -s -o /dev/null "$1" && return
        sleep 0.1
    done
    die "no server at $1"
}

install_aimock() {
    mkdir -p "$scratch/aimock/answers" && cd "$scratch/aimock" || exit 1
    npm init -y >/dev/null && npm install --silent --ignore-scripts @copilotkit/aimock >&2 || die "npm cannot install aimock"
    python3 "$here/answers.py" "$here/answer.md" >answers/all.json
    mock_port=$(free_port)
    # Pauses between the pieces let the first ones travel before the connection is cut.
    ./node_modules/.bin/llmock -p "$mock_port" -f ./answers -l 15 --log-level warn >aimock.log 2>&1 &
    servers="$servers $!"
    mock="http://127.0.0.1:$mock_port"
    wait_for "$mock/v1/models"
}

install_llama() {
    cd "$scratch" || exit 1
    python3 -m venv python && python/bin/pip install --quiet xllamacpp gguf >&2 || die "pip cannot install llama.cpp"
    serve_llama tiny "$here/answer.md"
    llama=$served
    serve_llama agent
    llama_agent=$served
}

# serve_llama MODEL [ANSWER]: its address is in $served.
serve_llama() {
    python/bin/python "$here/$1_model.py" "$1.gguf" || die "the model cannot be written"
    llama_port=$(free_port)
    python/bin/python "$here/llama_server.py" "$1.gguf" "$llama_port" ${2:+"$2"} >"llama-$1.log" 2>&1 &
    servers="$servers $!"
    served="http://127.0.0.1:$llama_port"
    wait_for "$served/v1/models"
}

# A repository with one file.
fresh_repository() {
    rm -rf "$scratch/repo" && mkdir "$scratch/repo" && cd "$scratch/repo" || exit 1
    git init -q . && git config user.name t && git config user.email t@example.org
    printf 'def greet():\n    return "hello"\n' >greet.py
    git add . && git commit -qm start
}

# ask API URL REQUEST: one turn; its output is in $scratch/out and $scratch/err, its exit code in $code.
ask() {
    "$rhumb" --api "$1" --base-url "$2" --model tiny edit --file greet.py -m "$3" --yes --json \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
}

# agent NAME API URL: an agent loop with three calls, one of them an edit, and an end.
agent() {
    fresh_repository
    "$rhumb" --api "$2" --base-url "$3" --model tiny edit --agent -m "AGENT: greet in French" --yes --json \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    check "$1" 0 bonjour tool_result
    calls=$(grep -c '"event":"tool_result".*"ok":true' "$scratch/out")
    [ "$calls" -eq 3 ] || { failures=$((failures + 1)); echo "FAILED  $1: $calls calls succeeded, not 3"; }
}

# check NAME EXIT hello|bonjour [EVENT]: what must have come of the turn.
check() {
    problem=""
    [ "$code" -eq "$2" ] || problem="ended with $code, not $2"
    grep -q "return \"$3\"" greet.py || problem="$problem; greet.py does not say $3"
    commits=$(git rev-list --count HEAD)
    case $3 in hello) expected=1 ;; *) expected=2 ;; esac
    [ "$commits" -eq "$expected" ] || problem="$problem; $commits commits"
    [ -z "${4:-}" ] || grep -q "\"event\":\"$4\"" "$scratch/out" || problem="$problem; no event $4"
    ! grep -rq "$RHUMB_API_KEY" "$scratch/out" "$scratch/err" "$scratch/repo" "$HOME" || problem="$problem; the key was told"
    if [ -z "$problem" ]; then
        echo "ok      $1"
    else
        failures=$((failures + 1))
        echo "FAILED  $1: ${problem#; }"
        sed 's/^/        /' "$scratch/err" | tail -n 5
    fi
}

# turn NAME API URL REQUEST EXIT hello|bonjour [EVENT]
turn() {
    fresh_repository
    ask "$2" "$3" "$4"
    check "$1" "$5" "$6" "${7:-}"
}

# listed NAME API URL: the server's list of models is found.
listed() {
    fresh_repository
    "$rhumb" --api "$2" --base-url "$3" --model tiny doctor >"$scratch/out" 2>"$scratch/err" </dev/null
    if grep -Eq 'answers, with [0-9]+ model|among (the|its) [0-9]+ models' "$scratch/out"; then
        echo "ok      $1"
    else
        failures=$((failures + 1))
        echo "FAILED  $1"
        grep 'model server' "$scratch/out" | sed 's/^/        /'
    fi
}

chaos() {
    curl -s -o /dev/null -X POST "$mock/__aimock/chaos" -H 'content-type: application/json' -d "$1"
}

against_aimock() {
    for api in chat responses anthropic gemini ollama; do
        case $api in chat | responses) url="$mock/v1" ;; *) url=$mock ;; esac
        # It lists none in Gemini's way.
        [ $api = gemini ] || listed "aimock $api: its models" $api "$url"
        turn "aimock $api: an edit" $api "$url" "PLAIN: greet in French" 0 bonjour usage
        turn "aimock $api: thinking before it" $api "$url" "THINKING: greet in French" 0 bonjour reasoning
        turn "aimock $api: thinking in tags" $api "$url" "TAGGED: greet in French" 0 bonjour reasoning
        agent "aimock $api: an agent" $api "$url"
        turn "aimock $api: cut off" $api "$url" "CUT: greet in French" 5 hello
        turn "aimock $api: rate limited" $api "$url" "LIMITED: greet in French" 4 hello
        chaos '{"malformedRate":1}'
        turn "aimock $api: broken JSON" $api "$url" "PLAIN: greet in French" 4 hello
        chaos '{"malformedRate":0,"disconnectRate":1}'
        turn "aimock $api: disconnected" $api "$url" "PLAIN: greet in French" 5 hello
        curl -s -o /dev/null -X DELETE "$mock/__aimock/chaos"
    done
}

against_llama() {
    for api in chat responses anthropic; do
        case $api in anthropic) url=$llama ;; *) url="$llama/v1" ;; esac
        listed "llama.cpp $api: its models" $api "$url"
        turn "llama.cpp $api: an edit" $api "$url" "Greet in French." 0 bonjour
        fresh_repository
        # Every byte is a token there, which we cannot know: the request looks as if it fitted.
        python3 -c 'print("# " + "0123456789 abcdef " * 3000)' >>greet.py
        git commit -qam start --amend
        ask $api "$url" "Greet in French."
        check "llama.cpp $api: too long for it" 4 hello
        grep -q "32768" "$scratch/err" || { failures=$((failures + 1)); echo "FAILED  the limit is not told"; }
        case $api in anthropic) url=$llama_agent ;; *) url="$llama_agent/v1" ;; esac
        agent "llama.cpp $api: an agent" $api "$url"
    done
}

if [ "${ONLY:-}" != llama ]; then
    install_aimock
    against_aimock
fi
if [ "${ONLY:-}" != aimock ]; then
    install_llama
    against_llama
fi
if [ "$failures" -gt 0 ]; then
    echo "$failures failed"
    exit 1
fi
echo "all as it should be"
