import { type ModelCall, ModelServer } from '../support/model-server.ts'

/** How a model server answers: to the end, endlessly, or a few chunks before it stalls. */
export const MANNERS = ['short', 'endless', 'stalled'] as const

/** The pause between two chunks of an endless answer. */
const PIECE_MS = 2

/** The answer of a model server to a prompt, and its caller. */
export interface Saying {
  call: ModelCall
  text: string
}

/** A model server controlled by its prompts: the last word of each selects the kind of answer. */
export interface Upstream {
  /** Its `base_url`. */
  url: string
  /** The answer to a prompt, if it was requested. */
  to(prompt: string): Saying | undefined
  /** Calls `onEnough` once, after this many more chunks of endless answers. */
  after(pieces: number, onEnough: () => void): void
  close(): Promise<void>
}

/** Starts one whose chunks have any length, and numbers: lost and repeated text is visible. */
export async function startUpstream(random: () => number): Promise<Upstream> {
  const model = new ModelServer()
  const sayings = new Map<string, Saying>()
  let left = Number.POSITIVE_INFINITY
  let onEnough = () => {}

  function answer(call: ModelCall): void {
    const prompt = call.request.messages.at(-1)!.content
    const saying: Saying = { call, text: '' }
    sayings.set(prompt, saying)
    let count = 0
    const say = () => {
      const piece = `${count++} ${'grüß 🥊 '.repeat(Math.floor(random() * 4))}`
      saying.text += piece
      call.say(piece)
    }
    if (prompt.endsWith('endless')) sayOn(call, say)
    else for (let pieces = 3; pieces > 0; pieces--) say()
    if (prompt.endsWith('short')) call.finish()
  }

  function sayOn(call: ModelCall, say: () => void): void {
    const timer = setInterval(() => {
      say()
      if (--left === 0) onEnough()
    }, PIECE_MS)
    call.response.once('close', () => clearInterval(timer))
  }

  model.will(answer)
  await model.listen()
  return {
    url: model.url,
    to: (prompt) => sayings.get(prompt),
    after(pieces, then) {
      left = pieces
      onEnough = then
    },
    close: () => model.close(),
  }
}
