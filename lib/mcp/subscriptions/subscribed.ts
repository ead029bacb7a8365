import type { ConversationStreamEvent } from '../../context.ts'
import type { Delivered } from '../../live/readers/delivery.ts'
import type { Resource } from '../resources/uri.ts'

/** What an event is about. */
interface Subject {
  conversation_id: string
  root_id?: string | undefined
  message_id?: string | undefined
}

/** What of an event says what it is about: each type has some of it. */
interface Named {
  conversation_id?: string
  root_id?: string
  message_id?: string
  message?: { id: string; root_id: string; conversation_id: string }
  summary?: { root_id: string }
  approval?: { message_id: string; root_id: string; conversation_id: string }
}

/** What a stored event is about; `undefined` for one of the moment, and for one that only its reader gets. */
export function subjectOf({ id, conversation_id, event, for_user_id }: Delivered): Subject | undefined {
  if (id === undefined || for_user_id !== undefined || event.type.startsWith('stream.')) return undefined
  const { message, summary, approval, ...own } = event.payload as Named
  const named = approval ?? own
  const place = conversation_id ?? message?.conversation_id ?? named.conversation_id
  if (place === undefined) return undefined
  return {
    conversation_id: place,
    root_id: message?.root_id ?? summary?.root_id ?? named.root_id,
    message_id: message?.id ?? named.message_id,
  }
}

/** Whether an event is about a resource, or about what it is a part of as a whole. */
export function isAbout(subject: Subject, resource: Resource): boolean {
  if (subject.conversation_id !== resource.conversation_id) return false
  if (resource.kind === 'conversation') return true
  if (resource.kind === 'thread') return subject.root_id === resource.root_id
  return subject.message_id === resource.message_id
}

/** The conversation from which an event removes a user. */
export function removalFrom(event: ConversationStreamEvent, userId: string): string | undefined {
  if (event.type !== 'membership.changed' || event.payload.action !== 'removed') return undefined
  return event.payload.user_id === userId ? event.payload.conversation_id : undefined
}
