import { appendParts, type CallMove, failed, moveCalls, type NewPart } from '../../chat/answers/calls.ts'
import { stateOfRun } from '../../chat/answers/rules-calls.ts'
import { isBeyondLimits } from '../../chat/answers/rules-limits.ts'
import type { Usage } from '../../chat/answers/schema.ts'
import type { ToolState } from '../../chat/answers/schema-parts.ts'
import { type CallRow, insertCall, listCalls, listStates, sizeOfTexts } from '../../chat/answers/store-calls.ts'
import {
  countAttempt,
  findHeld,
  findRun,
  pauseAnswer,
  putRun,
  releaseAnswer,
  spentOf,
} from '../../chat/answers/store-runs.ts'
import { askParticipants } from '../../chat/approvals/asking.ts'
import type { Metadata } from '../../chat/conversations/schema-metadata.ts'
import { lockWithClock } from '../../chat/memberships/access.ts'
import { modelOf } from '../../chat/metering/models.ts'
import { costOf } from '../../chat/metering/rules.ts'
import { addStep, needsEstimate, type Spent } from '../../chat/metering/rules-spent.ts'
import { findContextBytes } from '../../chat/metering/store.ts'
import type { ApprovalRule } from '../../config/approval-rule.ts'
import type { Context } from '../../context.ts'
import { fromStoredValue, toStoredValue } from '../../core/stored-value.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { AskedCall } from '../asked-calls.ts'
import type { ChunkWriter } from '../chunk-writer.ts'
import { type Draft, noteChange } from '../drafts.ts'
import type { SoFar } from '../so-far.ts'
import type { Tool } from '../tools/tool.ts'
import { type Asker, findAsker } from './asker.ts'
import { MAX_CALLS } from './examine.ts'
import { withoutExcessParts } from './excess-parts.ts'
import { addFiles, withoutExcessFiles } from './result-files.ts'
import { withOpenCalls } from './room.ts'

type StoringContext = Pick<Context, 'access' | 'assistants' | 'config' | 'now' | 'id'>

/** The end of a step whose provider has called tools. */
export interface StepEnd {
  step: number
  calls: readonly AskedCall[]
  usage: Usage | undefined
  /** The key of the assistant. */
  assistant: string
  /** What the steps before have used. */
  spent: Spent
  ran_ms: number
  /** That of this step, or of those before. */
  metadata: Metadata | undefined
  /** What the answer has of what is limited, without these calls. */
  used: SoFar['used']
}

/** What becomes of the calls of an answer, in one transaction. */
export interface Progress {
  moves: readonly CallMove[]
  asks: readonly { call: CallRow; rule: ApprovalRule }[]
  starts: readonly CallRow[]
  ran_ms: number
  /** Whether the answer ends now, whatever waits. */
  isEnding?: boolean
}

/** Where an answer is after that. */
export interface AfterProgress {
  state: 'running' | 'waiting' | 'over'
  states: ReadonlyMap<string, ToolState>
  /** The calls that have started, and the user who asked. */
  started: readonly CallRow[]
  asker: Asker | undefined
}

/** Stores what happens to the calls of an answer, while this process holds the answer. */
export function createRunStore(ctx: StoringContext, chunkWriter: ChunkWriter) {
  /** @returns `undefined` when this process has lost the answer */
  async function change<T>(
    run: Draft,
    work: (tx: Tx, held: { at: Micros; states: Map<string, ToolState> }) => Promise<T>,
  ): Promise<T | undefined> {
    const done: { result?: T; at: Micros; clock: Micros } = { at: 0, clock: 0 }
    const isStored = await chunkWriter.settle(run, async (tx) => {
      // Sent together: the second is read once the first has the lock.
      const [locked, states] = await Promise.all([
        lockWithClock(ctx, tx, run.conversation_id),
        listStates(tx, run.message_id, run.writer),
      ])
      if (!locked || !states) return false
      Object.assign(done, locked, { result: await work(tx, { at: locked.at, states }) })
      return true
    })
    if (!isStored) return undefined
    noteChange(run, done)
    return done.result
  }

  return {
    /**
     * Stores the calls that a step has asked for.
     *
     * @returns them, and what the steps have used; `answer_too_long`, and nothing is stored, if the answer has no room for them
     */
    request(
      run: Draft,
      asker_id: string,
      end: StepEnd,
      tools: ReadonlyMap<string, Tool>,
    ): Promise<{ calls: CallRow[]; spent: Spent } | 'answer_too_long' | undefined> {
      const ids = end.calls.map(() => ctx.id())
      return change(run, async (tx, { at, states }) => {
        const { message_id } = run
        // The connection broke during a commit, which is repeated.
        if (states.has(ids[0]!)) return readStored(tx, run, ids)
        const rows = end.calls.map((call, n) => toRow(call, { run, id: ids[n]!, asker_id, step: end.step, at, tools }))
        const parts = rows.map(({ id, name, title, step, input }, n) => ({
          ...{ type: 'tool' as const, call_id: id, name, ...(title !== null && { title }), step },
          state: 'requested' as const,
          ...(input !== null && tools.get(name)?.show !== 'name' && { input: fromStoredValue(input) }),
          provider_data: end.calls[n]!.provider_data,
        }))
        if (isBeyondLimits(withOpenCalls(withRows(end.used, parts), statesOf(rows)))) return 'answer_too_long' as const
        const [bytes, prompt] = await Promise.all([
          sizeOfTexts(tx, message_id),
          needsEstimate(end.usage) ? findContextBytes(tx, message_id) : 0,
        ])
        const spent = addStep(end.spent, { usage: end.usage, bytes, prompt })
        const first = await appendParts(tx, run, parts, at)
        for (const [n, row] of rows.entries()) {
          row.part_id = first + n
          tx.defer(insertCall(tx, row))
        }
        const micros = costOf(spent, modelOf(ctx, end.assistant).price)
        const metadata = end.metadata ? JSON.stringify(end.metadata) : null
        tx.defer(putRun(tx, message_id, { step: end.step, ran_ms: end.ran_ms, spent, micros, metadata }))
        return { calls: rows, spent }
      })
    },

    /** Stores what becomes of calls. An answer of which all that is left waits for participants is held no more. */
    progress(run: Draft, calls: readonly CallRow[], { moves, asks, starts, ran_ms, isEnding }: Progress) {
      return change(run, async (tx, { at, states }): Promise<AfterProgress> => {
        const asker = starts.length > 0 ? await findAsker(ctx, tx, starts[0]!) : undefined
        const all = [
          ...moves,
          ...(await askParticipants(
            ctx,
            tx,
            run,
            asks.filter(({ call }) => states.get(call.id) === 'requested'),
            at,
          )),
          ...starts.map((call) => toStart(call, asker)),
        ]
        const kept = await withoutExcessFiles(tx, run.message_id, all)
        const fitting = await withoutExcessParts(tx, run.message_id, kept, states.values())
        const done = await moveCalls(tx, run, states, fitting, at)
        await addFiles(tx, run.message_id, done)
        const started = done.filter(({ act }) => act === 'start' || act === 'restart')
        const byId = new Map(calls.map((call) => [call.id, call]))
        for (const { call } of started) {
          const { id, name, user_id, conversation_id, message_id } = byId.get(call.id)!
          const detail = { tool: name, message_id }
          tx.audit({ act: 'tool.called', actor_id: user_id ?? undefined, subject_id: id, conversation_id, detail })
        }
        const state = stateOfRun([...states.values()])
        if (state === 'waiting' && !isEnding) await pauseAnswer(tx, run.message_id, run.writer, ran_ms)
        if (state === 'over' && !isEnding) {
          tx.defer(countAttempt(tx, run.message_id, ran_ms))
          // Text follows: decisions of participants may have added rows as well.
          run.stored = (await findHeld(tx, run.message_id))!
        }
        return { state, states, started: started.map(({ call }) => byId.get(call.id)!), asker }
      })
    },

    /**
     * Hands the answer over to other processes, and to the next start of this one.
     *
     * @param isAsked false before the model is asked for the next step
     */
    release: (run: Draft, { isAsked = true } = {}) =>
      change(run, async (tx) => {
        await releaseAnswer(tx, run.message_id, { writer: run.writer, isAsked })
        return true
      }),
  }
}

/** What an answer has with some more parts, of a row each. */
function withRows(used: SoFar['used'], rows: readonly NewPart[]): SoFar['used'] {
  const bytes = rows.map(
    ({ provider_data = '', ...row }) => Buffer.byteLength(JSON.stringify(row)) + provider_data.length,
  )
  return {
    parts: used.parts + rows.length,
    rows: used.rows + rows.length,
    bytes: bytes.reduce((sum, size) => sum + size, used.bytes),
  }
}

/** What is asked of calls before they end: those that are too many are refused, which is one row. */
const statesOf = (calls: readonly CallRow[]) =>
  calls.map(({ state }, n): ToolState => (n < MAX_CALLS ? state : 'running'))

/** The calls that a step has asked for, as they are stored. */
async function readStored(tx: Tx, run: Draft, ids: readonly string[]): Promise<{ calls: CallRow[]; spent: Spent }> {
  const calls = (await listCalls(tx, run.message_id)).filter(({ id }) => ids.includes(id))
  return { calls, spent: spentOf((await findRun(tx, run.message_id))!) }
}

function toStart(call: CallRow, asker: Asker | undefined): CallMove {
  // A call that was started may have happened.
  if (!asker) return { call, act: call.state === 'running' ? 'lose' : 'refuse', ...failed('asker_left') }
  return { call, act: call.state === 'running' ? 'restart' : 'start', change: { attempts: call.attempts + 1 } }
}

function toRow(
  { name, input }: AskedCall,
  place: { run: Draft; id: string; asker_id: string; step: number; at: Micros; tools: ReadonlyMap<string, Tool> },
): CallRow {
  const { run, id, asker_id: user_id, step, at: requested_at, tools } = place
  return {
    ...{ id, message_id: run.message_id, conversation_id: run.conversation_id, user_id, part_id: -1, step, name },
    title: tools.get(name)?.title ?? null,
    input: 'value' in input ? toStoredValue(input.value) : null,
    ...{ state: 'requested', attempts: 0, output: null, error: null, requested_at },
    ...{ approval: null, approvers: null, quorum: null, not_asker: null, by_keys: null, expires_at: null },
    decided_at: null,
  }
}
