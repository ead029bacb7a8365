import { withUsers } from '../../storage/archive/conversation-rows.ts'
import type { Row } from '../../storage/database.ts'
import type { Standing } from './people.ts'

/** What an import makes of the rows of an archive, in their order. */
export interface Mapper {
  /** The row as it is stored here; `undefined` for one that goes with a user, or with texts, that were erased. */
  map(table: string, row: Row): Row | undefined
}

/** Replaces users of the archive with their stand-ins. */
export function createMapper(people: readonly Standing[]): Mapper {
  const standings = new Map(people.map((person) => [person.copied.id, person]))
  const toUser = (id: string) => standings.get(id)?.user?.id
  /** The messages of the thread whose texts were erased with their author. */
  const emptied = new Set<unknown>()

  function mapMessage(row: Row, mapped: Row): Row {
    const listed = { ...mapped, ...COMPOSED }
    if (!standings.get(String(row.posted_by))?.erased_texts) return listed
    emptied.add(row.id)
    return { ...listed, ...ERASED, deleted_at: row.deleted_at ?? row.created_at! }
  }

  return {
    map(table, row) {
      if (table === 'threads') emptied.clear()
      if (emptied.has(row.message_id)) return undefined
      const mapped = withUsers(table, row, toUser)
      if (table === 'messages') return mapMessage(row, mapped)
      // The counts of messages without an author are computed with the other counts.
      if (table === 'thread_members') return mapped.user_id ? { ...mapped, ...UNCOUNTED } : undefined
      if (table === 'threads') return { ...mapped, ...UNLISTED, listed_to: row.last_activity_at! }
      return NEEDS_USER.includes(table) && mapped.user_id === null ? undefined : mapped
    },
  }
}

/** The list of users is computed anew. */
const UNLISTED = { last_repliers: null, repliers_as_of: null }

/** What is computed of a member when all is there. */
const UNCOUNTED = { live_count: 0, read_count: 0, listed_in: null, listed_at: null, news_at: null }

const NEEDS_USER = ['participants', 'reactions']

/** Lists that are composed of their rows. */
const COMPOSED = { reaction_list: null, attachment_list: null }

/** A message that keeps its place, so that its replies do. */
const ERASED = {
  content: '',
  prompt: null,
  context: null,
  metadata: null,
  delete_reason: null,
  deleted_by: null,
  mention_all: null,
  mentioned: null,
  quote_id: null,
  mention_origins: null,
  pinned_at: null,
  pinned_by: null,
}
