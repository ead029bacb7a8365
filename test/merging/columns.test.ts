import { expect, it } from 'vitest'
import { MIGRATIONS } from '../../lib/storage/schema/migrations.ts'
import { shapeAfter } from '../../lib/storage/schema/shape.ts'
import { USER_COLUMNS } from './columns.ts'

/** Names of columns that have, or contain, the id of a user. */
const USER =
  /user|_by$|actor|about|subject_id|author|person|member|follower|replier|mention|reaction|pair|owner_id|into_id|from_id|system_id/

/** Columns with such a name that have no id of a user. */
const OTHERS = new Set([
  'conversations.participant_count',
  'messages.mention_all',
  'nodes.user',
  'participants.unread_mentions',
  'sessions.user_agent',
  'threads.participant_count',
  'threads.repliers_as_of',
  'users.username',
  'users.username_key',
  'limit_profiles.user',
])

it('a merge decides on each column that names a user', () => {
  const columns = (['sqlite', 'postgresql'] as const).flatMap((dialect) =>
    [...shapeAfter(MIGRATIONS.length, dialect).tables].flatMap(([table, names]) =>
      [...names].map((name) => `${table}.${name}`),
    ),
  )
  const suspects = columns.filter((column) => USER.test(column.split('.')[1]!) && !OTHERS.has(column))
  expect(suspects.filter((column) => !USER_COLUMNS[column])).toEqual([])
  expect(Object.keys(USER_COLUMNS).filter((column) => !columns.includes(column))).toEqual([])
})
