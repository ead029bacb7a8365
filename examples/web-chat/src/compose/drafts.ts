import { signal } from '@preact/signals'
import type { Attachment } from 'chat-server/client'
import { attempt } from '../app/attempt.ts'

/** By user, and by the thread or conversation it is for. */
const PREFIX = 'chat:draft:'

/** Older ones are forgotten. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

/** What was written and not sent, kept until it is. */
export interface Draft {
  /** Missing in those of an earlier version of the page, which were only a text. */
  conversation_id?: string
  text: string
  /** The title of the thread that it begins. */
  topic?: string | undefined
  /** Whether it is for the assistant. */
  asks?: boolean
  /** The key of the one that was chosen. */
  assistant?: string | undefined
  /** The message that it quotes. */
  quote_id?: string | undefined
  /** Those that were uploaded. */
  files?: readonly Attachment[]
  /** When it was changed, by the local clock. */
  at: number
}

/** Changes when a draft begins or ends. */
export const draftsChange = signal(0)
addEventListener('storage', ({ key }) => key?.startsWith(PREFIX) && draftsChange.value++)

export function readDraft(user_id: string, place: string): Draft | undefined {
  return parse(attempt(() => localStorage.getItem(keyOf(user_id, place))) ?? null)
}

/** Changes a draft; one of which nothing is left is forgotten. */
export function keepDraft(user_id: string, place: string, change: Partial<Draft>): void {
  const before = readDraft(user_id, place)
  const draft: Draft = { text: '', ...before, ...change, at: Date.now() }
  const isEmpty = draft.text === '' && !draft.topic && draft.quote_id === undefined && !draft.files?.length
  const key = keyOf(user_id, place)
  attempt(() => (isEmpty ? localStorage.removeItem(key) : localStorage.setItem(key, JSON.stringify(draft))))
  if (isEmpty === (before !== undefined)) draftsChange.value++
}

/** The drafts of a user by place, the latest first. A component that calls it is rendered again when one begins or ends. */
export function draftsOf(user_id: string): (Draft & { place: string })[] {
  draftsChange.value
  const start = keyOf(user_id, '')
  const keys = attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(start))) ?? []
  return keys
    .flatMap((key) => {
      const place = key.slice(start.length)
      const draft = readDraft(user_id, place)
      return draft ? { ...draft, place } : []
    })
    .sort((one, other) => other.at - one.at)
}

export function forgetDraft(user_id: string, place: string): void {
  attempt(() => localStorage.removeItem(keyOf(user_id, place)))
  draftsChange.value++
}

/** At a sign-out. */
export function forgetDrafts(user_id: string): void {
  for (const { place } of draftsOf(user_id)) forgetDraft(user_id, place)
}

function keyOf(user_id: string, place: string): string {
  return `${PREFIX}${user_id}:${place}`
}

function parse(kept: string | null): Draft | undefined {
  if (!kept) return undefined
  const draft = attempt(() => JSON.parse(kept) as Draft)
  if (typeof draft?.at !== 'number') return { text: kept, at: Date.now() }
  return Date.now() - draft.at < KEPT_MS ? draft : undefined
}
