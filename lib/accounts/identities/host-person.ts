import * as v from 'valibot'
import { ChatError } from '../../core/errors.ts'
import { parseInput } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { Subject } from '../users/schema.ts'
import { findIdentity, hostKey } from './store.ts'

const Named = v.object({ subject: Subject })

/**
 * The user of a person of the host's.
 *
 * @throws ChatError `not_found` for a subject without a user; `validation_failed` for one that is none
 */
export async function findPerson(db: Queries, subject: string) {
  const user = await findIdentity(db, hostKey(parseInput(Named, { subject }).subject))
  if (!user) throw new ChatError('not_found', { message: NO_PERSON })
  return user
}

const NO_PERSON =
  'No user has this subject: create it first, with users.ensure or PUT /api/admin/users/by-subject/{subject}.'
