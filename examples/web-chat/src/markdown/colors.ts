import type { ElementContent } from 'hast'
import { scriptAddress } from '../app/script-address.ts'

/** The file of the worker, beside those of the page; `.ci/build-web.mjs` puts its name in. */
declare const HIGHLIGHT: string

/** The time for a code. The expressions of some languages take minutes for texts that were made for that. */
const TIMEOUT_MS = 1000

/** After so many codes took too long, the page shows no more colors: each of them has cost the device a second. */
const MAX_TIMEOUTS = 5

interface Request {
  text: string
  language: string
  /** Ended before its turn, it takes none. */
  signal: AbortSignal
  answer(parts: ElementContent[] | undefined): void
}

const waiting: Request[] = []
let worker: Worker | 'asked' | undefined
let timeouts = 0

/** The parts of a code with the classes of its colors; `undefined` where there are none. One code is read at a time. */
export function colorsOf(
  text: string,
  language: string,
  signal: AbortSignal,
): Promise<readonly ElementContent[] | undefined> {
  return new Promise((answer) => {
    waiting.push({ text, language, signal, answer })
    if (worker !== 'asked') readNext(worker)
  })
}

function readNext(ready: Worker | undefined): void {
  worker = ready
  const next = waiting.shift()
  if (!next) return
  const reader = next.signal.aborted ? undefined : (ready ?? start())
  if (reader) {
    worker = 'asked'
    read(reader, next, ready !== undefined)
  } else {
    next.answer(undefined)
    readNext(ready)
  }
}

function read(reader: Worker, { text, language, answer }: Request, isReady: boolean): void {
  let timer: ReturnType<typeof setTimeout>
  const end = (parts: ElementContent[] | undefined, then: Worker | undefined) => {
    clearTimeout(timer)
    answer(parts)
    readNext(then)
  }
  const ask = () => {
    reader.postMessage({ text, language })
    timer = setTimeout(() => {
      timeouts++
      reader.terminate()
      end(undefined, undefined)
    }, TIMEOUT_MS)
  }
  // Until it is ready, its file is loaded: how long that takes depends on the network.
  reader.onmessage = ({ data }: MessageEvent<'ready' | ElementContent[] | undefined>) =>
    data === 'ready' ? ask() : end(data, reader)
  // Its file was not loaded, or it has failed. The next block of code starts another one.
  reader.onerror = () => end(undefined, undefined)
  if (isReady) ask()
}

/** Where no worker may be started, code has no colors. */
function start(): Worker | undefined {
  if (timeouts >= MAX_TIMEOUTS) return undefined
  try {
    return new Worker(scriptAddress(new URL(HIGHLIGHT, import.meta.url).href))
  } catch {
    return undefined
  }
}
