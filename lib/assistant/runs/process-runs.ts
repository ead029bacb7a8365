import { endAnswer, INTERRUPTED } from '../../chat/answers/ending.ts'
import type { HookContext } from '../../chat/hooks/before.ts'
import { lockAsSystem } from '../../chat/memberships/access.ts'
import { toStored } from '../../chat/memberships/store-conversations.ts'
import type { MessageRow } from '../../chat/messages/store.ts'
import { replaceMetadata } from '../../chat/messages/store-changes.ts'
import { notifyAsker } from '../../chat/notifications/answered.ts'
import type { Context, Streams } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { StepPlace } from '../answer-parts.ts'
import { type AnswerOutcome, ENDED, type OpenFile, type SaveFile, STOPPING } from '../ask.ts'
import type { AssistantSettings, Assistants } from '../assistants.ts'
import type { ChunkWriter } from '../chunk-writer.ts'
import type { Draft } from '../drafts.ts'
import { wantTitle } from '../titles.ts'
import type { AskBeforeTool } from './examine.ts'
import { createStepOutput } from './output.ts'
import { createReview } from './reviewing.ts'
import { createRunStore } from './storing.ts'
import type { TakenRun } from './take-over.ts'
import { withdrawAnswer } from './withdrawing.ts'
import { writeAnswer } from './write-answer.ts'

/** A message that the host writes in this process. */
export interface HostedMessage {
  /** Aborts when it has ended elsewhere, and when the service stops. */
  signal: AbortSignal
  add(text: string): void
  /** Stores the rest of the text, then runs `end`. @returns whether that has ended it */
  settle(end: (tx: Tx) => Promise<boolean>): Promise<boolean>
  /** Writes it no longer. */
  close(): void
}

/** The maximum length of a chunk that the host writes: a UTF-16 unit takes at most 3 bytes of UTF-8. */
const HOSTED_LENGTH = Math.floor(MAX_LENGTH.chunk / 3)

interface Run extends Draft {
  control: AbortController
  over: Promise<void>
  /** Set while calls of it wait for participants: goes on with those that are approved. */
  wake?: (() => void) | undefined
}

export type RunsContext = Pick<Context, 'access' | 'config' | 'db' | 'write' | 'metrics' | 'log' | 'now' | 'id'> &
  Pick<Streams, 'presence'> & {
    assistants: Assistants
    openFile: OpenFile
    beforeTool: AskBeforeTool
    host: HookContext['host']
  }

/** How an answer ends. */
interface Ending extends Omit<AnswerOutcome, 'calls'> {
  /** Whether the user who asked has no open stream, and is notified. */
  isAway: boolean
  /** What has written it; missing for a message that the host writes. */
  assistant?: AssistantSettings
}

/** Ends an answer, unless this process has lost it. */
async function endRun(
  ctx: RunsContext,
  tx: Tx,
  run: Run,
  { end, metadata, withdrawal, isAway, assistant }: Ending,
): Promise<boolean> {
  const at = await lockAsSystem(ctx, tx, run.conversation_id)
  if (at === undefined) return false
  const { writer, withheld_bytes } = run
  if (!(await endAnswer(tx, run, end, { only: { writer }, withheld_bytes }))) return false
  if (withdrawal !== undefined) {
    await withdrawAnswer(ctx, tx, run.message_id, { at, reason: withdrawal })
    return true
  }
  if (end.status === 'complete' && assistant) await wantTitle(tx, assistant, run)
  if (metadata) await replaceMetadata(tx, run.message_id, toStored(metadata))
  if (isAway) await notifyAsker(ctx, tx, run, at)
  return true
}

/** The answers in progress in this process. */
export function createRuns(
  ctx: RunsContext,
  { chunkWriter, writer, isDraining }: { chunkWriter: ChunkWriter; writer: string; isDraining(): boolean },
) {
  const runs = new Map<string, Run>()
  const store = createRunStore(ctx, chunkWriter)
  const review = createReview(ctx, chunkWriter)
  let state: 'open' | 'interrupting' | 'closed' = 'open'
  let saveFile: SaveFile = async () => {
    throw new Error('Files of providers are stored once the service is there')
  }

  async function write(row: MessageRow, run: Run, taken: TakenRun | undefined): Promise<void> {
    const { find, fallback } = ctx.assistants
    const assistant = ((row.assistant ? find(row.assistant) : undefined) ?? fallback)!
    const finish = async (outcome: Omit<AnswerOutcome, 'calls'>) => {
      const isAway = !(await ctx.presence.hasStream(row.posted_by!))
      const isEnded = await chunkWriter.settle(run, (tx) => endRun(ctx, tx, run, { ...outcome, isAway, assistant }))
      if (isEnded) ctx.metrics.answered(outcome.end.status)
    }
    const deps = {
      ...{ ctx: { ...ctx, saveFile }, store, beforeTool: ctx.beforeTool, review, finish },
      output(place: StepPlace) {
        run.isHeld = assistant.hold
        return createStepOutput({ id: ctx.id, chunkWriter }, run, place)
      },
    }
    const woken = () =>
      new Promise<void>((resolve) => {
        run.wake = () => {
          run.wake = undefined
          resolve()
        }
      })
    try {
      await writeAnswer(deps, { assistant, row, run, taken, isDraining, woken })
    } finally {
      run.control.abort(ENDED)
      chunkWriter.drop(run)
    }
  }

  return {
    storeFilesWith(save: SaveFile): void {
      saveFile = save
    },

    /**
     * Starts to write a claimed answer, or goes on with one that was taken. After `close` it is left to other processes: its
     * lease will expire.
     */
    start(row: MessageRow, taken?: TakenRun): void {
      if (state === 'closed' || !ctx.assistants.fallback) return
      const { id: message_id, conversation_id, root_id, parent_id, depth } = row
      const place = { message_id, conversation_id, root_id, parent_id, depth, writer }
      const stored = taken?.stored ?? 0
      const run: Run = { ...place, pending: '', stored, control: new AbortController(), over: Promise.resolve() }
      runs.set(message_id, run)
      if (state === 'interrupting') run.control.abort(STOPPING)
      run.over = write(row, run, taken)
        .catch((error) => ctx.log.error('An answer could not be written', { message_id, cause: String(error) }))
        .finally(() => runs.delete(message_id))
    },

    /** Takes a message that the host writes in this process. When the service stops, it is interrupted. */
    takeHosted(place: Omit<Draft, 'writer' | 'pending' | 'stored'>): HostedMessage {
      const control = new AbortController()
      let release = () => {}
      const over = new Promise<void>((resolve) => {
        release = resolve
      })
      const run: Run = { ...place, writer, chunk_length: HOSTED_LENGTH, pending: '', stored: 0, control, over }
      runs.set(run.message_id, run)
      const close = () => {
        chunkWriter.drop(run)
        runs.delete(run.message_id)
        release()
      }
      const interrupt = async () => {
        const ending = { end: INTERRUPTED, isAway: false }
        const isEnded = await chunkWriter.settle(run, (tx) => endRun(ctx, tx, run, { ...ending, metadata: undefined }))
        if (isEnded) ctx.metrics.answered(INTERRUPTED.status)
      }
      const { signal } = control
      signal.addEventListener('abort', () => {
        if (signal.reason !== STOPPING) return close()
        interrupt()
          .catch((error) => ctx.log.error('A message could not be interrupted', { cause: causeText(error) }))
          .finally(close)
      })
      if (state !== 'open') control.abort(state === 'closed' ? ENDED : STOPPING)
      return {
        signal,
        add(text) {
          if (!signal.aborted) chunkWriter.add(run, text)
          if (run.isLost) control.abort(ENDED)
        },
        settle: (end) => chunkWriter.settle(run, end),
        close,
      }
    },

    /** Stops writing an answer that was ended elsewhere. */
    abandon: (messageId: string) => runs.get(messageId)?.control.abort(ENDED),

    /** Goes on with the calls of an answer that participants have decided on. */
    wake: (messageId: string) => runs.get(messageId)?.wake?.(),

    /** The answers with calls that wait for participants while others run. */
    listWaiting: () => [...runs.values()].flatMap(({ message_id, wake }) => (wake ? message_id : [])),

    /** Ends all answers, and those that start from now on, as interrupted. */
    interrupt(): void {
      state = 'interrupting'
      for (const run of runs.values()) run.control.abort(STOPPING)
    },

    close(): void {
      state = 'closed'
    },

    /** Resolves once no answer is in progress. */
    async idle(): Promise<void> {
      while (runs.size > 0) await Promise.all([...runs.values()].map((run) => run.over))
    },

    ids: () => [...runs.keys()],
    has: (messageId: string) => runs.has(messageId),
    size: () => runs.size,
  }
}
