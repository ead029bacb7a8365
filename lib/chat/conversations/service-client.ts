import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import { type Conversation, ConversationInput, type EnsuredConversation } from './schema.ts'
import { DirectInput } from './schema-direct.ts'
import { create, findOrCreate } from './service.ts'
import { rename } from './service-changing.ts'
import { direct } from './service-direct.ts'

/**
 * {@link create} for a client of the service: only administrators and parts of the host set a `ref`: no user takes one before
 * the host. With `ensure` it is `chat.conversations.ensure`.
 */
export const createByClient = useCase({
  ...create,
  input: ConversationInput,
  errors: [...create.errors, 'not_found'],
  run: async (ctx, actor, { ensure, ...input }): Promise<EnsuredConversation> => {
    assertMayRef(actor, input)
    if (!ensure) return create.run(ctx, actor, input)
    const { ref } = input
    if (ref === undefined) throw new ChatError('validation_failed', { errors: [WITHOUT_REF] })
    return findOrCreate(ctx, actor, { ...input, ref })
  },
})

const WITHOUT_REF = { path: 'ref', message: 'is missing: ensure needs it' }

/** {@link rename} for a client of the service: it sets a `ref` as {@link createByClient}. */
export const renameByClient = useCase({
  ...rename,
  run: (ctx, actor, conversationId, input): Promise<Conversation> => {
    assertMayRef(actor, input)
    return rename.run(ctx, actor, conversationId, input)
  },
})

/** {@link direct} for a client of the service, which names no subject. */
export const directByClient = useCase({ ...direct, input: DirectInput })

function assertMayRef(actor: Actor, { ref }: { ref?: string | undefined }): void {
  if (ref !== undefined && !actor.roles.includes('admin') && actor.system === undefined)
    throw new ChatError('forbidden', {
      reason: 'role',
      message: 'Only an administrator sets the ref of a conversation over HTTP.',
    })
}
