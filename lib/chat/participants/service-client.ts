import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { AddedParticipant } from '../conversations/schema.ts'
import { add } from './service.ts'

/** {@link add} for a client of the service: only a part of the host names a subject, which no user of the service reads. */
export const addByClient = useCase({
  ...add,
  errors: [...add.errors, 'validation_failed'],
  run: async (ctx, actor, conversationId, input): Promise<AddedParticipant> => {
    if ('subject' in input && actor.system === undefined)
      throw new ChatError('validation_failed', { errors: [OF_THE_HOST] })
    return add.run(ctx, actor, conversationId, input)
  },
})

const OF_THE_HOST = { path: 'subject', message: 'is for a server key that acts as a system actor' }
