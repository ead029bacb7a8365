import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { ChatError } from '../../core/errors.ts'
import type { AssistantRequest, Turn } from '../provider.ts'

type File = NonNullable<Turn['attachments']>[number]

/** Which files of a thread are sent, and as what. */
export interface FileReading {
  /** How many, and how many bytes of them. */
  most: { files: number; bytes: number }
  /** Whether it may be one, before it is read. */
  isWanted: (file: File) => boolean
  /** What is sent of the bytes; `undefined` for a file that turns out to be none. */
  toText: (bytes: Buffer) => string | undefined
}

/** How many files are opened to find those that are sent: a thread may have any number of others. */
const MAX_OPENED = 32

/**
 * What is sent of the files of a thread, by their ids: the newest ones, up to a number and a size. One that cannot be read any
 * more is left out, as is one that is too large.
 *
 * @throws AnswerFailure `provider_error` if the storage of files does not answer: without it the model would be asked about
 *   a file that it does not get
 */
export async function readFiles(
  { turns, open, signal }: AssistantRequest,
  { most, isWanted, toText }: FileReading,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  let room = most.bytes
  const newest = turns.toReversed().flatMap(({ attachments = [] }) => attachments.filter(isWanted))
  for (const { id, size } of newest.slice(0, MAX_OPENED)) {
    if (texts.size === most.files) break
    if (size > room) continue
    const bytes = await readFile(id, open)
    signal.throwIfAborted()
    const text = bytes && toText(bytes)
    if (text === undefined) continue
    texts.set(id, text)
    room -= size
  }
  return texts
}

/** @returns `undefined` for a file that cannot be read */
async function readFile(id: string, open: AssistantRequest['open']): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of open(id)) pieces.push(piece)
  } catch (error) {
    if (!(error instanceof ChatError)) throw error
    if (error.code === 'unavailable') throw new AnswerFailure('provider_error', error)
    return undefined
  }
  return Buffer.concat(pieces)
}
