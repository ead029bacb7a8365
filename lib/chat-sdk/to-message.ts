import { type Attachment, type Author, Message, parseMarkdown, toPlainText } from 'chat'
import type { Attachment as ApiAttachment, Message as ApiMessage, Person } from '../api/client-entities.ts'
import { requesters } from '../client/requester-of.ts'
import type { ChatClient } from '../client/types.ts'

/** What a message does not say itself. */
export interface MessageReading {
  client: ChatClient
  threadId: string
  /** The user that the client is. */
  me: string
  /** Its author, unless that user is erased, or not to be seen. */
  author: Person | undefined
}

/** A message of the service as one of the SDK. */
export function toMessage(raw: ApiMessage, { client, threadId, me, author }: MessageReading): Message<ApiMessage> {
  const formatted = parseMarkdown(raw.content)
  return new Message({
    id: raw.id,
    threadId,
    raw,
    formatted,
    text: toPlainText(formatted),
    isMention: isMentioned(raw, me),
    author: raw.author_user_id === undefined ? toProgram(raw) : toAuthor(raw.author_user_id, author, me),
    metadata: {
      dateSent: new Date(raw.created_at),
      edited: raw.edited_at !== undefined,
      ...(raw.edited_at !== undefined && { editedAt: new Date(raw.edited_at) }),
    },
    attachments: (raw.attachments ?? []).map((attachment) => toAttachment(client, attachment)),
  })
}

/** A user; one that is not to be seen has the id as name. */
export function toAuthor(userId: string, person: Person | undefined, me: string): Author {
  const userName = person?.username ?? userId
  const isBot = person === undefined ? 'unknown' : person.kind === 'bot' || person.kind === 'system'
  return { userId, userName, fullName: person?.display_name ?? userName, isBot, isMe: userId === me }
}

/** The author of a message without a user: an assistant, the service itself, or a user who was erased. */
function toProgram({ role, assistant }: ApiMessage): Author {
  const name = assistant ?? role
  const isBot = role !== 'user'
  return { userId: name, userName: name, fullName: name, isBot, isMe: false, isSystem: role === 'system' }
}

function isMentioned({ mentions }: ApiMessage, me: string): boolean {
  return mentions?.user_ids.includes(me) ?? false
}

/** A file, which is read when a handler asks for it. */
export function toAttachment(client: ChatClient, { id, name, size, type, width, height }: ApiAttachment): Attachment {
  const [, kind = 'file'] = /^(image|video|audio)\//.exec(type) ?? []
  return {
    type: kind as Attachment['type'],
    name,
    size,
    mimeType: type,
    ...(width !== undefined && height !== undefined && { width, height }),
    ...toReading(client, id),
  }
}

/** What reads the bytes of a file; its id alone comes back from a queue. */
export function toReading(client: ChatClient, id: string): Pick<Attachment, 'fetchMetadata' | 'fetchData'> {
  return {
    fetchMetadata: { attachment_id: id },
    async fetchData() {
      const response = await requesters.get(client)!.request('GET', `/api/attachments/${id}/content`)
      return response.arrayBuffer()
    },
  }
}
