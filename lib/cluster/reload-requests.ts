import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../core/ids.ts'
import type { Database } from '../storage/database.ts'
import { createSignalPoll } from './signal-poll.ts'
import type { Signal } from './signals.ts'
import { insertSignal } from './store-signals.ts'

/** What became of a reload in one process. */
export type NodeReload =
  | { node: string; reloaded: true; changed: string[]; needs_restart: string[] }
  | { node: string; reloaded: false; reasons: string[] }

/** A reload as the process itself reports it: without its name. */
export type OwnReload =
  | { reloaded: true; changed: string[]; needs_restart: string[] }
  | { reloaded: false; reasons: string[] }

/** How often a request is repeated: a process that has been away for a moment may have missed it. */
const REPEAT_MS = 1_000

const CHECK_MS = 50

/** The longest list of reasons or keys that is passed on, in texts of at most this length. */
const MAX_REASONS = 50
const MAX_REASON_LENGTH = 500

/** The part of a process that answers requests to reload. */
export function createReloadAnswer(id: string, db: Database) {
  let last: { request: string; answer: Promise<string> } | undefined
  let reload = async (): Promise<OwnReload> => ({
    reloaded: false,
    reasons: ['This process reads no configuration file: its host calls chat.reload.'],
  })

  async function run(): Promise<string> {
    const own = await reload()
    const answer: NodeReload = own.reloaded
      ? { node: id, ...own }
      : { node: id, reloaded: false, reasons: shortened(own.reasons) }
    return JSON.stringify(answer)
  }

  return {
    /** @param work reads the configuration of this process again */
    onReload(work: () => Promise<OwnReload>): void {
      reload = work
    },
    /** Reloads once for a request, however often it arrives, and answers each time. */
    async handle(request: string): Promise<void> {
      if (last?.request !== request) last = { request, answer: run() }
      const answer: NodeReload = JSON.parse(await last.answer)
      await insertSignal(
        db,
        id,
        JSON.stringify({ events: [], user_ids: [], reload_answer: { request, answer } } satisfies Signal),
      )
    },
  }
}

function shortened(reasons: string[]): string[] {
  return reasons.slice(0, MAX_REASONS).map((reason) => reason.slice(0, MAX_REASON_LENGTH))
}

/**
 * Has every process that serves the database read its configuration again.
 *
 * @param db where processes meet
 * @param nodes their ids
 * @returns the results by process; a process without one has not answered in time
 */
export async function requestReload(
  db: Database,
  nodes: readonly string[],
  { timeout_ms }: { timeout_ms: number },
): Promise<Map<string, NodeReload>> {
  const request = newId()
  const { poll: look } = createSignalPoll(db, request)
  const answers = new Map<string, NodeReload>()
  const end = performance.now() + timeout_ms
  // Before the request: the first look finds nothing, later ones what is newer.
  await look()
  for (let next = 0; answers.size < nodes.length && performance.now() < end; await sleep(CHECK_MS)) {
    if (performance.now() >= next) {
      await insertSignal(
        db,
        request,
        JSON.stringify({ events: [], user_ids: [], reload_request: request } satisfies Signal),
      )
      next = performance.now() + REPEAT_MS
    }
    for (const body of (await look())?.bodies ?? []) {
      const { reload_answer } = JSON.parse(body) as Signal
      if (reload_answer?.request === request && nodes.includes(reload_answer.answer.node))
        answers.set(reload_answer.answer.node, reload_answer.answer)
    }
  }
  return answers
}
