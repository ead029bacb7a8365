import { toTurns } from '../chat/answers/rules.ts'
import { findPlaceOfAnswer } from '../chat/answers/store-context.ts'
import { pathsDownTo } from '../chat/messages/rules.ts'
import { listAtPaths, type MessageRow } from '../chat/messages/store.ts'
import { listQuotedTexts } from '../chat/messages/store-quotes.ts'
import type { Queries } from '../storage/database.ts'
import type { AssistantSettings } from './assistants.ts'
import type { Turn } from './provider.ts'

/** What an assistant gets before it answers: its instructions, those of the conversation, and the messages before. */
export async function readContext(
  db: Queries,
  { system_prompt, context_bytes }: Pick<AssistantSettings, 'system_prompt' | 'context_bytes'>,
  row: MessageRow,
): Promise<Turn[]> {
  const [place, messages] = await Promise.all([findPlaceOfAnswer(db, row.conversation_id), listMessagesTo(db, row)])
  // Many model servers take one system message only.
  const prompts = [system_prompt, place?.assistant_prompt].filter((prompt) => prompt)
  return toTurns(messages, {
    ...(prompts.length > 0 && { system_prompt: prompts.join('\n\n') }),
    bytes: context_bytes,
  })
}

/** The messages from the root to an answer, with the texts that they quote. */
async function listMessagesTo(db: Queries, { root_id, path }: Pick<MessageRow, 'root_id' | 'path'>) {
  const rows = await listAtPaths(db, root_id, pathsDownTo(path))
  const ids = rows.flatMap(({ quote_id, deleted_at }) => (quote_id && !deleted_at ? quote_id : []))
  if (ids.length === 0) return rows
  const texts = await listQuotedTexts(db, rows[0]!.conversation_id, ids)
  const textBy = new Map(texts.filter(({ content }) => content !== '').map((text) => [text.id, text]))
  return rows.map((row) => ({ ...row, quoted_text: textBy.get(row.quote_id ?? '') }))
}
