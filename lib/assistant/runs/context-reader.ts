import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { findShownNames } from '../../accounts/users/store.ts'
import { isUnchanged } from '../../chat/answers/store-context.ts'
import type { MessageRow } from '../../chat/messages/store.ts'
import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import type { AssistantSettings } from '../assistants.ts'
import { RETRY_MS } from '../chunk-writer.ts'
import { type AnswerContext, readContext } from '../context.ts'
import type { Draft } from '../drafts.ts'
import { createHiddenOf } from './hidden-values.ts'

/** What precedes an answer, for one of its steps. A busy storage does not fail an answer while there is time left. */
export type ContextReader = (signal: AbortSignal) => Promise<AnswerContext>

/**
 * Reads what precedes an answer: once for all of its steps, unless anything but the answer changes the conversation, or a user is
 * renamed.
 */
export function createContextReader(
  db: Queries,
  assistant: AssistantSettings,
  { row, run }: { row: MessageRow; run: Pick<Draft, 'unchanged_at'> },
): ContextReader {
  const hiddenOf = createHiddenOf(assistant.tools)
  let kept: AnswerContext | undefined

  async function read(): Promise<AnswerContext> {
    const { unchanged_at } = run
    const isKept = unchanged_at !== undefined && (await isUnchanged(db, row.conversation_id, unchanged_at))
    if (kept && isKept && (await areCurrent(db, kept.names))) return structuredClone(kept)
    const context = await readContext(db, assistant, row, hiddenOf)
    run.unchanged_at = context.clock
    // A provider may change what it gets.
    kept = assistant.tools.length > 0 ? structuredClone(context) : undefined
    return context
  }

  return async (signal) => {
    for (;;) {
      try {
        return await read()
      } catch (error) {
        if (!(error instanceof ChatError && error.code === 'unavailable')) throw error
      }
      await sleep(RETRY_MS, undefined, { signal })
    }
  }
}

/** Whether users still have these names, which are in no conversation and move no clock. */
async function areCurrent(db: Queries, names: AnswerContext['names']): Promise<boolean> {
  return names.size === 0 || isDeepStrictEqual(await findShownNames(db, [...names.keys()]), names)
}
