import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { ChatError } from '../../core/errors.ts'
import { sniff } from '../../files/sniff.ts'
import type { AssistantRequest, Turn } from '../provider.ts'

/** What servers with the protocol read, by the first bytes of a file. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** The pictures of a request. All of them are in memory, a third longer in their URLs. */
export const MAX_OF_REQUEST = { pictures: 8, bytes: 8 * 1024 * 1024 }

/**
 * The pictures of a thread as data URLs, by the ids of their files: the newest ones, up to a number and a size. One that
 * cannot be read any more is left out, as is one that is too large.
 *
 * @throws AnswerFailure `provider_error` if the storage of files does not answer: without it the model would be asked about
 *   a picture that it does not get
 */
export async function readPictures({ turns, open, signal }: AssistantRequest): Promise<Map<string, string>> {
  const urls = new Map<string, string>()
  let room = MAX_OF_REQUEST.bytes
  for (const { id, size } of newestOf(turns)) {
    if (urls.size === MAX_OF_REQUEST.pictures) break
    if (size > room) continue
    const url = await readPicture(id, open)
    signal.throwIfAborted()
    if (url === undefined) continue
    urls.set(id, url)
    room -= size
  }
  return urls
}

/** The files that may be pictures, from the end of the thread. */
function newestOf(turns: readonly Turn[]): NonNullable<Turn['attachments']> {
  return turns.toReversed().flatMap(({ attachments = [] }) => attachments.filter(({ type }) => TYPES.includes(type)))
}

/** @returns `undefined` for a file that cannot be read, or is not what its sender calls it */
async function readPicture(id: string, open: AssistantRequest['open']): Promise<string | undefined> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of open(id)) pieces.push(piece)
  } catch (error) {
    if (!(error instanceof ChatError)) throw error
    if (error.code === 'unavailable') throw new AnswerFailure('provider_error', error)
    return undefined
  }
  const bytes = Buffer.concat(pieces)
  const type = sniff(bytes)
  return TYPES.includes(type) ? `data:${type};base64,${bytes.toString('base64')}` : undefined
}
