import { assertAdmin, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { parseInput, useCase } from '../../core/use-case.ts'
import { findPerson } from '../identities/host-person.ts'
import { type EnsuredAccount, HostPerson, PersonInput } from '../identities/schema.ts'
import { toAccount } from '../users/accounts.ts'
import { photosOf } from '../users/photos.ts'
import type { Account } from '../users/schema.ts'
import { endLogins, ensure, ensurePerson } from './service-people.ts'

/**
 * {@link ensure} for a client of the service, and whether the user is new.
 *
 * @throws ChatError as {@link ensure}; `forbidden` for an administrator by a server key
 */
export const ensureBySubject = useCase({
  takes: ['actor', 'subject'],
  input: PersonInput,
  errors: ensure.errors,
  run: async (ctx, actor, subject, input): Promise<EnsuredAccount> => {
    const person = parseInput(HostPerson, { ...input, subject })
    if (actor.server_key !== undefined && person.roles?.includes('admin'))
      throw new ChatError('forbidden', { reason: 'key', message: 'A server key makes no administrators.' })
    return ensurePerson(ctx, actor, person)
  },
})

/**
 * The user of a person of the host's, as an administrator reads it.
 *
 * @throws ChatError `forbidden` unless the actor is an administrator, and with an API key; `not_found`
 */
export const findBySubject = useCase({
  takes: ['actor', 'subject'],
  errors: ['not_found', 'validation_failed'],
  run: async (ctx, actor, subject): Promise<{ user: Account }> => {
    assertAdmin(actor)
    refuseKeys(actor)
    return { user: await toAccount(ctx.db, await findPerson(ctx.db, subject), photosOf(ctx.config)) }
  },
})

/** `endForSubject` for a client of the service. @throws ChatError `forbidden` unless the actor is an administrator, and with an API key */
export const endBySubject = useCase({
  takes: ['actor', 'subject'],
  errors: ['validation_failed'],
  frees: 'whole',
  run: async (ctx, actor, subject): Promise<void> => {
    assertAdmin(actor)
    refuseKeys(actor)
    await endLogins(ctx, subject, actor)
  },
})
