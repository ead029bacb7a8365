import {
  type AdapterPostableMessage,
  type Attachment,
  BaseFormatConverter,
  convertEmojiPlaceholders,
  type FileUpload,
  parseMarkdown,
  type Root,
  stringifyMarkdown,
} from 'chat'
import type { ChatClient } from '../client/types.ts'
import type { Directory } from './directory.ts'

/** How the SDK writes that a user is mentioned: `thread.mentionUser(user_id)`. */
const MENTION = /<@([\w-]{1,64})>/g

/** Messages are Markdown: what a handler posts as Markdown stays as it is. Cards become their text. */
class MarkdownConverter extends BaseFormatConverter {
  toAst(text: string): Root {
    return parseMarkdown(text)
  }
  fromAst(ast: Root): string {
    return stringifyMarkdown(ast)
  }
  override fromMarkdown(markdown: string): string {
    return markdown
  }
}

const CONVERTER = new MarkdownConverter()

/** The text of a message of a handler, with the names of the users that it mentions. */
export async function toText(directory: Directory, message: AdapterPostableMessage): Promise<string> {
  const text = convertEmojiPlaceholders(CONVERTER.renderPostable(message), 'gchat')
  const ids = Array.from(text.matchAll(MENTION), ([, id]) => id)
  if (ids.length === 0) return text
  const people = await directory.people(ids)
  return text.replaceAll(MENTION, (mention, id) => (people.has(id) ? `@${people.get(id)!.username}` : mention))
}

/** Uploads the files of a message. @returns their ids */
export async function uploadFiles(
  client: ChatClient,
  conversation_id: string,
  message: AdapterPostableMessage,
): Promise<string[]> {
  const { files = [], attachments = [] } = message as { files?: FileUpload[]; attachments?: Attachment[] }
  const ids: string[] = []
  for (const { data, filename, mimeType } of [...files, ...(await Promise.all(attachments.map(toUpload)))]) {
    const blob = new Blob([data as BlobPart], mimeType === undefined ? {} : { type: mimeType })
    ids.push((await client.upload(conversation_id, blob, { name: filename })).id)
  }
  return ids
}

async function toUpload({ data, fetchData, name, type, mimeType }: Attachment): Promise<FileUpload> {
  const bytes = data ?? (await fetchData?.())
  if (bytes === undefined) throw new TypeError(`The attachment "${name ?? type}" has neither data nor fetchData`)
  return { data: bytes, filename: name ?? type, ...(mimeType !== undefined && { mimeType }) }
}
