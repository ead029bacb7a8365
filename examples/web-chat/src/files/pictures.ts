import type { Attachment, Message } from 'chat-server/client'

/** A larger picture is shown when it is opened. */
const MAX_SHOWN_BYTES = 10_000_000

/** How large a picture is shown in a message, in pixels: alone, and beside others. */
const MAX_WIDTH = 384
const MAX_HEIGHT = { one: 320, several: 160 }

/** A picture of a message. */
export interface Picture {
  file: Attachment
  message: Pick<Message, 'author_user_id' | 'role' | 'requested_by' | 'created_at'>
}

/** Where a file is. */
export function addressOf({ id }: Pick<Attachment, 'id'>, base_url: string): string {
  return `${base_url.replace(/\/$/, '')}/api/attachments/${id}`
}

/** The first part of the type of a file that the page shows; what another origin serves is never a part of it. */
export function kindOf({ type }: Attachment, address: string): string | undefined {
  return address.startsWith(`${location.origin}/`) ? type.split('/', 1)[0] : undefined
}

/** Whether a file is a picture that is shown in its message. */
export function isPicture(file: Attachment, base_url: string): boolean {
  const { status, width, height, thumbnail, size } = file
  const isKnown = status === 'ready' && !!width && !!height && (thumbnail || size <= MAX_SHOWN_BYTES)
  return isKnown && kindOf(file, addressOf(file, base_url)) === 'image'
}

/** The address of what is shown of a picture in a message. */
export function previewOf(file: Attachment, base_url: string): string {
  const address = addressOf(file, base_url)
  return file.thumbnail ? `${address}/thumbnail` : `${address}/content?inline=true`
}

/** How wide a picture is shown in a message, so that its place is known before it is there. */
export function shownWidth({ width = 1, height = 1 }: Attachment, count: number): number {
  const max = count === 1 ? MAX_HEIGHT.one : MAX_HEIGHT.several
  return Math.round(Math.min(width, MAX_WIDTH, (max * width) / height))
}
