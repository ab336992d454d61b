_neuron__profile() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="neuron__profile"
                ;;
            neuron__profile,capture)
                cmd="neuron__profile__subcmd__capture"
                ;;
            neuron__profile,delete)
                cmd="neuron__profile__subcmd__delete"
                ;;
            neuron__profile,export)
                cmd="neuron__profile__subcmd__export"
                ;;
            neuron__profile,help)
                cmd="neuron__profile__subcmd__help"
                ;;
            neuron__profile,inspect)
                cmd="neuron__profile__subcmd__inspect"
                ;;
            neuron__profile,list)
                cmd="neuron__profile__subcmd__list"
                ;;
            neuron__profile,neff)
                cmd="neuron__profile__subcmd__neff"
                ;;
            neuron__profile,ntff)
                cmd="neuron__profile__subcmd__ntff"
                ;;
            neuron__profile,query)
                cmd="neuron__profile__subcmd__query"
                ;;
            neuron__profile,recommend)
                cmd="neuron__profile__subcmd__recommend"
                ;;
            neuron__profile,report)
                cmd="neuron__profile__subcmd__report"
                ;;
            neuron__profile,show-session)
                cmd="neuron__profile__subcmd__show__subcmd__session"
                ;;
            neuron__profile,tag)
                cmd="neuron__profile__subcmd__tag"
                ;;
            neuron__profile,tensorboard)
                cmd="neuron__profile__subcmd__tensorboard"
                ;;
            neuron__profile,view)
                cmd="neuron__profile__subcmd__view"
                ;;
            neuron__profile__subcmd__help,capture)
                cmd="neuron__profile__subcmd__help__subcmd__capture"
                ;;
            neuron__profile__subcmd__help,delete)
                cmd="neuron__profile__subcmd__help__subcmd__delete"
                ;;
            neuron__profile__subcmd__help,export)
                cmd="neuron__profile__subcmd__help__subcmd__export"
                ;;
            neuron__profile__subcmd__help,help)
                cmd="neuron__profile__subcmd__help__subcmd__help"
                ;;
            neuron__profile__subcmd__help,inspect)
                cmd="neuron__profile__subcmd__help__subcmd__inspect"
                ;;
            neuron__profile__subcmd__help,list)
                cmd="neuron__profile__subcmd__help__subcmd__list"
                ;;
            neuron__profile__subcmd__help,neff)
                cmd="neuron__profile__subcmd__help__subcmd__neff"
                ;;
            neuron__profile__subcmd__help,ntff)
                cmd="neuron__profile__subcmd__help__subcmd__ntff"
                ;;
            neuron__profile__subcmd__help,query)
                cmd="neuron__profile__subcmd__help__subcmd__query"
                ;;
            neuron__profile__subcmd__help,recommend)
                cmd="neuron__profile__subcmd__help__subcmd__recommend"
                ;;
            neuron__profile__subcmd__help,report)
                cmd="neuron__profile__subcmd__help__subcmd__report"
                ;;
            neuron__profile__subcmd__help,show-session)
                cmd="neuron__profile__subcmd__help__subcmd__show__subcmd__session"
                ;;
            neuron__profile__subcmd__help,tag)
                cmd="neuron__profile__subcmd__help__subcmd__tag"
                ;;
            neuron__profile__subcmd__help,tensorboard)
                cmd="neuron__profile__subcmd__help__subcmd__tensorboard"
                ;;
            neuron__profile__subcmd__help,view)
                cmd="neuron__profile__subcmd__help__subcmd__view"
                ;;
            neuron__profile__subcmd__help__subcmd__neff,cat)
                cmd="neuron__profile__subcmd__help__subcmd__neff__subcmd__cat"
                ;;
            neuron__profile__subcmd__help__subcmd__neff,disasm)
                cmd="neuron__profile__subcmd__help__subcmd__neff__subcmd__disasm"
                ;;
            neuron__profile__subcmd__help__subcmd__neff,info)
                cmd="neuron__profile__subcmd__help__subcmd__neff__subcmd__info"
                ;;
            neuron__profile__subcmd__help__subcmd__neff,ls)
                cmd="neuron__profile__subcmd__help__subcmd__neff__subcmd__ls"
                ;;
            neuron__profile__subcmd__help__subcmd__neff,pack)
                cmd="neuron__profile__subcmd__help__subcmd__neff__subcmd__pack"
                ;;
            neuron__profile__subcmd__help__subcmd__neff,run)
                cmd="neuron__profile__subcmd__help__subcmd__neff__subcmd__run"
                ;;
            neuron__profile__subcmd__help__subcmd__neff,unpack)
                cmd="neuron__profile__subcmd__help__subcmd__neff__subcmd__unpack"
                ;;
            neuron__profile__subcmd__help__subcmd__neff,verify)
                cmd="neuron__profile__subcmd__help__subcmd__neff__subcmd__verify"
                ;;
            neuron__profile__subcmd__help__subcmd__ntff,dump)
                cmd="neuron__profile__subcmd__help__subcmd__ntff__subcmd__dump"
                ;;
            neuron__profile__subcmd__help__subcmd__ntff,info)
                cmd="neuron__profile__subcmd__help__subcmd__ntff__subcmd__info"
                ;;
            neuron__profile__subcmd__help__subcmd__ntff,verify)
                cmd="neuron__profile__subcmd__help__subcmd__ntff__subcmd__verify"
                ;;
            neuron__profile__subcmd__neff,cat)
                cmd="neuron__profile__subcmd__neff__subcmd__cat"
                ;;
            neuron__profile__subcmd__neff,disasm)
                cmd="neuron__profile__subcmd__neff__subcmd__disasm"
                ;;
            neuron__profile__subcmd__neff,help)
                cmd="neuron__profile__subcmd__neff__subcmd__help"
                ;;
            neuron__profile__subcmd__neff,info)
                cmd="neuron__profile__subcmd__neff__subcmd__info"
                ;;
            neuron__profile__subcmd__neff,ls)
                cmd="neuron__profile__subcmd__neff__subcmd__ls"
                ;;
            neuron__profile__subcmd__neff,pack)
                cmd="neuron__profile__subcmd__neff__subcmd__pack"
                ;;
            neuron__profile__subcmd__neff,run)
                cmd="neuron__profile__subcmd__neff__subcmd__run"
                ;;
            neuron__profile__subcmd__neff,unpack)
                cmd="neuron__profile__subcmd__neff__subcmd__unpack"
                ;;
            neuron__profile__subcmd__neff,verify)
                cmd="neuron__profile__subcmd__neff__subcmd__verify"
                ;;
            neuron__profile__subcmd__neff__subcmd__help,cat)
                cmd="neuron__profile__subcmd__neff__subcmd__help__subcmd__cat"
                ;;
            neuron__profile__subcmd__neff__subcmd__help,disasm)
                cmd="neuron__profile__subcmd__neff__subcmd__help__subcmd__disasm"
                ;;
            neuron__profile__subcmd__neff__subcmd__help,help)
                cmd="neuron__profile__subcmd__neff__subcmd__help__subcmd__help"
                ;;
            neuron__profile__subcmd__neff__subcmd__help,info)
                cmd="neuron__profile__subcmd__neff__subcmd__help__subcmd__info"
                ;;
            neuron__profile__subcmd__neff__subcmd__help,ls)
                cmd="neuron__profile__subcmd__neff__subcmd__help__subcmd__ls"
                ;;
            neuron__profile__subcmd__neff__subcmd__help,pack)
                cmd="neuron__profile__subcmd__neff__subcmd__help__subcmd__pack"
                ;;
            neuron__profile__subcmd__neff__subcmd__help,run)
                cmd="neuron__profile__subcmd__neff__subcmd__help__subcmd__run"
                ;;
            neuron__profile__subcmd__neff__subcmd__help,unpack)
                cmd="neuron__profile__subcmd__neff__subcmd__help__subcmd__unpack"
                ;;
            neuron__profile__subcmd__neff__subcmd__help,verify)
                cmd="neuron__profile__subcmd__neff__subcmd__help__subcmd__verify"
                ;;
            neuron__profile__subcmd__ntff,dump)
                cmd="neuron__profile__subcmd__ntff__subcmd__dump"
                ;;
            neuron__profile__subcmd__ntff,help)
                cmd="neuron__profile__subcmd__ntff__subcmd__help"
                ;;
            neuron__profile__subcmd__ntff,info)
                cmd="neuron__profile__subcmd__ntff__subcmd__info"
                ;;
            neuron__profile__subcmd__ntff,verify)
                cmd="neuron__profile__subcmd__ntff__subcmd__verify"
                ;;
            neuron__profile__subcmd__ntff__subcmd__help,dump)
                cmd="neuron__profile__subcmd__ntff__subcmd__help__subcmd__dump"
                ;;
            neuron__profile__subcmd__ntff__subcmd__help,help)
                cmd="neuron__profile__subcmd__ntff__subcmd__help__subcmd__help"
                ;;
            neuron__profile__subcmd__ntff__subcmd__help,info)
                cmd="neuron__profile__subcmd__ntff__subcmd__help__subcmd__info"
                ;;
            neuron__profile__subcmd__ntff__subcmd__help,verify)
                cmd="neuron__profile__subcmd__ntff__subcmd__help__subcmd__verify"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        neuron__profile)
            opts="-h -V --help --version capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__capture)
            opts="-n -s -m -i -r -t -h -V --neff --session-file --ignore-exec-errors --multi-input --collectives-profile-id --collectives-workers-per-node --collectives-worker-count --collectives-worker-start-id --num-exec --profile-nth-exec --capture-type --systrace-get-event-types --systrace-event-filter --exec-mode --disable-profile --enable-dge-notifs --single-io --single-io-threshold --save-output --save-output-npy --save-nth-output --write-tensors-per-exec --check-output-determinism --io-from --libnrt --tensorboard-dir --source --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --neff)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --session-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --multi-input)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -m)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collectives-profile-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -i)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collectives-workers-per-node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -r)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collectives-worker-count)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collectives-worker-start-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --num-exec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --profile-nth-exec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --capture-type)
                    COMPREPLY=($(compgen -W "profile systrace" -- "${cur}"))
                    return 0
                    ;;
                -t)
                    COMPREPLY=($(compgen -W "profile systrace" -- "${cur}"))
                    return 0
                    ;;
                --systrace-event-filter)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exec-mode)
                    COMPREPLY=($(compgen -W "sync async async-wait" -- "${cur}"))
                    return 0
                    ;;
                --single-io-threshold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --save-nth-output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io-from)
                    COMPREPLY=($(compgen -W "neff" -- "${cur}"))
                    return 0
                    ;;
                --libnrt)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tensorboard-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__delete)
            opts="-h -V --data-path --db-endpoint --db-org --db-bucket --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --data-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --db-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --db-org)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --db-bucket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__export)
            opts="-o -h -V --format --output-file --table --events --from --to --show-perfetto-flows --system-trace-primary-group --system-trace-secondary-group --data-path --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "parquet csv json perfetto chrome folded tensorboard html" -- "${cur}"))
                    return 0
                    ;;
                --output-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --table)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-trace-primary-group)
                    COMPREPLY=($(compgen -W "instance_id worker_gid lnc_idx process_id thread_id" -- "${cur}"))
                    return 0
                    ;;
                --system-trace-secondary-group)
                    COMPREPLY=($(compgen -W "instance_id worker_gid lnc_idx process_id thread_id" -- "${cur}"))
                    return 0
                    ;;
                --data-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help)
            opts="capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__capture)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__delete)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__export)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__inspect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__neff)
            opts="info ls cat disasm unpack pack verify run"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__neff__subcmd__cat)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__neff__subcmd__disasm)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__neff__subcmd__info)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__neff__subcmd__ls)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__neff__subcmd__pack)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__neff__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__neff__subcmd__unpack)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__neff__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__ntff)
            opts="info dump verify"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__ntff__subcmd__dump)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__ntff__subcmd__info)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__ntff__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__query)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__recommend)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__report)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__show__subcmd__session)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__tag)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__tensorboard)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__help__subcmd__view)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__inspect)
            opts="-o -n -h -V --output-dir --num-trace-events --source --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --num-trace-events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__list)
            opts="-h -V --data-path --tag --format --db-endpoint --db-org --db-bucket --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --data-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --db-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --db-org)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --db-bucket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff)
            opts="-h -V --help --version info ls cat disasm unpack pack verify run help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__cat)
            opts="-o -h -V --strict --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__disasm)
            opts="-o -h -V --strict --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help)
            opts="info ls cat disasm unpack pack verify run help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help__subcmd__cat)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help__subcmd__disasm)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help__subcmd__info)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help__subcmd__ls)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help__subcmd__pack)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help__subcmd__unpack)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__help__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__info)
            opts="-o -w -s -h -V --strict --output --show-weights --no-digest --show-spills --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__ls)
            opts="-o -l -h -V --strict --output --long --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__pack)
            opts="-n -k -r -t -e -o -h -V --like --name --label --uuid --neff-version --header-version --num-nc --lnc-size --enable-feature --bare --digest --force --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --like)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uuid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --neff-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --header-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -r)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --num-nc)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -t)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lnc-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --enable-feature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -e)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --digest)
                    COMPREPLY=($(compgen -W "plain swapped" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__run)
            opts="-i -o -h -V --input --fill --seed --output --node --timing-only --no-timing --trace --format --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --input)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -i)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fill)
                    COMPREPLY=($(compgen -W "zeros random" -- "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__unpack)
            opts="-o -h -V --strict --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__neff__subcmd__verify)
            opts="-o -h -V --strict --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__ntff)
            opts="-h -V --help --version info dump verify help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__ntff__subcmd__dump)
            opts="-o -h -V --output --no-records --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__ntff__subcmd__help)
            opts="info dump verify help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__ntff__subcmd__help__subcmd__dump)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__ntff__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__ntff__subcmd__help__subcmd__info)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__ntff__subcmd__help__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__ntff__subcmd__info)
            opts="-o -h -V --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__ntff__subcmd__verify)
            opts="-o -h -V --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__query)
            opts="-f -o -h -V --file --tables --describe --output-format --output-file --max-rows --tag --engine --memory-limit --threads --data-path --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --describe)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output-format)
                    COMPREPLY=($(compgen -W "table csv json parquet" -- "${cur}"))
                    return 0
                    ;;
                --output-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-rows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --engine)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --memory-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --threads)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --data-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__recommend)
            opts="-n -s -h -V --neff-path --session-file --nki-source-root --data-path --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --neff-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --session-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nki-source-root)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --data-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__report)
            opts="-o -h -V --output-format --output-file --limit --sql --tag --engine --memory-limit --threads --data-path --help --version bottlenecks layers operators engines dma idle memory compare"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output-format)
                    COMPREPLY=($(compgen -W "table csv json" -- "${cur}"))
                    return 0
                    ;;
                --output-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --engine)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --memory-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --threads)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --data-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__show__subcmd__session)
            opts="-s -n -j -e -i -h -V --session-file --neff-path --json --show-trace --show-dma --show-errors --instructions --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --session-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --neff-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__tag)
            opts="-h -V --remove --display-name --data-path --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --remove)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --display-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --data-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__tensorboard)
            opts="-h -V --logdir --socket --cache --until-stdin-closes --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --logdir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        neuron__subcmd__profile__subcmd__view)
            opts="-n -s -d -v -F -p -h -V --neff-path --session-file --session-dir --ignore-device-profile --ignore-system-profile --jobs --memory-budget --output-format --ingest-only --force --data-path --tag --output-file --display-name --json-pretty-print --ignore-nc-buf-usage --nki-source-root --framework-source-root --execution --processing-status-file --verbosity --enable-memory-tracker --terminology --show-profile-schema --ignore-dma-trace --ignore-instruction-trace --ignore-event-trace --ignore-instruction-hierarchy --system-trace-filter-neuron-core --system-trace-filter-event-type --system-trace-filter-instance-id --show-perfetto-flows --system-trace-primary-group --system-trace-secondary-group --port --host --upload-limit --db-endpoint --db-org --db-bucket --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --neff-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --session-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --session-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -d)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --memory-budget)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output-format)
                    COMPREPLY=($(compgen -W "parquet db json perfetto summary-text summary-json" -- "${cur}"))
                    return 0
                    ;;
                --data-path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --display-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nki-source-root)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --framework-source-root)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --execution)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --processing-status-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verbosity)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -F)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-trace-filter-neuron-core)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-trace-filter-event-type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-trace-filter-instance-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-trace-primary-group)
                    COMPREPLY=($(compgen -W "instance_id worker_gid lnc_idx process_id thread_id" -- "${cur}"))
                    return 0
                    ;;
                --system-trace-secondary-group)
                    COMPREPLY=($(compgen -W "instance_id worker_gid lnc_idx process_id thread_id" -- "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --host)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --upload-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --db-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --db-org)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --db-bucket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _neuron__profile -o nosort -o bashdefault -o default neuron-profile
else
    complete -F _neuron__profile -o bashdefault -o default neuron-profile
fi
