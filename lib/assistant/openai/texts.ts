import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { ChatError } from '../../core/errors.ts'
import { isStorable } from '../../core/schema.ts'
import { sniff } from '../../files/sniff.ts'
import type { AssistantRequest, Turn } from '../provider.ts'

/** What is read of the texts of a thread. */
export const MAX_OF_TEXTS = { files: 8, file_bytes: 64 * 1024, bytes: 256 * 1024 }

/** How many files are opened to find them: any file may be a text. */
const MAX_OPENED = 32

/**
 * The texts of a thread, by the ids of their files: the newest ones, up to a number and a size. One that is no UTF-8, that
 * cannot be read any more, or that is too large is left out.
 *
 * @throws AnswerFailure `provider_error` if the storage of files does not answer
 */
export async function readTexts({ turns, open, signal }: AssistantRequest): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  let room = MAX_OF_TEXTS.bytes
  for (const { id, size } of newestOf(turns).slice(0, MAX_OPENED)) {
    if (texts.size === MAX_OF_TEXTS.files) break
    if (size > room) continue
    const text = await readText(id, open)
    signal.throwIfAborted()
    if (text === undefined) continue
    texts.set(id, text)
    room -= size
  }
  return texts
}

function newestOf(turns: readonly Turn[]): NonNullable<Turn['attachments']> {
  const small = ({ size }: { size: number }) => size > 0 && size <= MAX_OF_TEXTS.file_bytes
  return turns.toReversed().flatMap(({ attachments = [] }) => attachments.filter(small))
}

/** @returns `undefined` for a file that cannot be read, or is no text */
async function readText(id: string, open: AssistantRequest['open']): Promise<string | undefined> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of open(id)) pieces.push(piece)
  } catch (error) {
    if (!(error instanceof ChatError)) throw error
    if (error.code === 'unavailable') throw new AnswerFailure('provider_error', error)
    return undefined
  }
  const bytes = Buffer.concat(pieces)
  // A picture or a document is no text, even if its bytes would pass.
  if (sniff(bytes) !== 'application/octet-stream') return undefined
  return toText(bytes)
}

function toText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return isStorable(text) ? text : undefined
  } catch {
    return undefined
  }
}
