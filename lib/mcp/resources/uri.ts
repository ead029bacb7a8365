import { MAX_LENGTH } from '../../core/lengths.ts'
import { isId } from '../../core/schema.ts'

/** What a URI names: a conversation, or in it a thread or a message. */
export type Resource = {
  conversation_id: string
  /** Where to read on. */
  cursor?: string
} & ({ kind: 'conversation' } | { kind: 'thread'; root_id: string } | { kind: 'message'; message_id: string })

/** `chat://conversations/{id}`, with `/threads/{id}` or `/messages/{id}`, and `?cursor=`. */
const FORM =
  /^chat:\/\/conversations\/([^/?#]{36})(?:\/(threads|messages)\/([^/?#]{36}))?(?:\?cursor=([\w-]{1,4096}))?$/

/** What a URI names; `undefined` for one that names nothing here. */
export function parseUri(uri: string): Resource | undefined {
  if (uri.length > MAX_LENGTH.header) return undefined
  const [, conversation_id, kind, id, cursor] = FORM.exec(uri) ?? []
  if (conversation_id === undefined || !isId(conversation_id) || (id !== undefined && !isId(id))) return undefined
  const place = { conversation_id: conversation_id.toLowerCase(), ...(cursor !== undefined && { cursor }) }
  if (id === undefined) return { ...place, kind: 'conversation' }
  if (kind === 'threads') return { ...place, kind: 'thread', root_id: id.toLowerCase() }
  return { ...place, kind: 'message', message_id: id.toLowerCase() }
}

/** The URI of a conversation, or of a thread or message of it. */
export function toUri(
  place: { conversation_id: string; root_id?: string; message_id?: string },
  cursor?: string,
): string {
  const { conversation_id, root_id, message_id } = place
  const part = message_id === undefined ? root_id && `/threads/${root_id}` : `/messages/${message_id}`
  return `chat://conversations/${conversation_id}${part ?? ''}${cursor === undefined ? '' : `?cursor=${cursor}`}`
}
