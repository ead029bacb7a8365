import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AnswerPiece, AssistantRequest } from '../../lib/assistant/provider.ts'
import { type DefinedTool, defineTool, type Ports } from '../../lib/index.ts'
import { isWriting, writingScript } from './doors/script.ts'
import { createRandom } from './random.ts'

/** The longest pause of the model before each of its chunks, and of a tool before and after its effect. */
const MAX_PAUSE_MS = { model: 50, tool: 400 }

/** The tools that may start more often than once. */
export const IDEMPOTENT = new Set(['look'])

/** The number of calls of a run that is not interrupted. */
export const CALLS = 5

/** The question whose tools have no result before the file with {@link GO} at its end is there. */
export const HOLD = 'hold'
export const GO = '.go'

/** A call that has begun: a line of the file of effects. */
export interface Start {
  call_id: string
  attempt: number
  name: string
}

/** The model and the tools of a host: each effect of a tool is a line in `file`, which survives the process. */
export function scriptedTools(file: string): Pick<Ports, 'assistant' | 'tools'> {
  return {
    assistant: scriptFor,
    tools: {
      charge: tool(file),
      look: tool(file, { idempotent: true }),
      refund: tool(file, { approval: { by: 'members', keys: true } }),
      hold: holdingTool(file),
    },
  }
}

const ANY = {
  json_schema: { type: 'object' },
  validate: (value: unknown) => ({ value: value as { pauses_ms: [number, number]; n: number } }),
}

function tool(
  file: string,
  options: { idempotent?: boolean; approval?: { by: 'members'; keys: true } } = {},
): DefinedTool {
  const name = options.idempotent ? 'look' : options.approval ? 'refund' : 'charge'
  return defineTool({
    description: name,
    input: ANY,
    ...options,
    async run({ pauses_ms: [before, after], n }, { call_id, attempt }) {
      await sleep(before)
      note(file, { call_id, attempt, name })
      await sleep(after)
      return { n }
    },
  })
}

/** The first four calls return when the test says so; the fifth, which starts after one of them, at once. */
function holdingTool(file: string): DefinedTool {
  return defineTool({
    description: 'hold',
    input: ANY,
    async run({ n }, { call_id, attempt }) {
      note(file, { call_id, attempt, name: 'hold' })
      while (n < CALLS && !existsSync(file + GO)) await sleep(20)
      note(file, { call_id, attempt, name: 'returned' })
      return { n }
    },
  })
}

/** A short line is appended in one call: lines of several processes do not mix. */
function note(file: string, { call_id, attempt, name }: Start): void {
  appendFileSync(file, `${call_id} ${attempt} ${name}\n`)
}

function scriptFor(request: AssistantRequest): AsyncIterable<AnswerPiece> {
  const question = questionOf(request)
  if (isWriting(question)) return writingScript(question, request.signal)
  return question === HOLD ? holdingScript(request) : randomScript(request)
}

/** Three calls, then two, one of them equal to an earlier one, then the end. */
async function* randomScript(request: AssistantRequest): AsyncGenerator<AnswerPiece> {
  const { step, signal } = request
  const random = createRandom(Number(questionOf(request).split(' ').at(-1)) + step)
  const pause = (of: keyof typeof MAX_PAUSE_MS) => Math.floor(random() * MAX_PAUSE_MS[of])
  const call = (name: string, n: number): AnswerPiece => ({
    tool_call: { name, input: { n, pauses_ms: [pause('tool'), pause('tool')] } },
  })
  const again: AnswerPiece = { tool_call: { name: 'charge', input: { n: 1, pauses_ms: [50, 50] } } }
  const steps: AnswerPiece[][] = [
    ['First, ', 'three calls.', again, call('look', 2), call('refund', 3)],
    ['Then two.', again, call('refund', 4)],
    ['That ', 'is ', 'all.'],
  ]
  for (const piece of steps[step - 1]!) {
    await sleep(pause('model'), undefined, { signal })
    yield piece
  }
}

async function* holdingScript({ step }: AssistantRequest): AsyncGenerator<AnswerPiece> {
  if (step > 1) return yield 'All have ended.'
  for (let n = 1; n <= CALLS; n++) yield { tool_call: { name: 'hold', input: { n, pauses_ms: [0, 0] } } }
}

const questionOf = ({ turns }: AssistantRequest) => turns.at(-1)!.content
