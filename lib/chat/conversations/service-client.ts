import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Conversation, CreatedConversation } from './schema.ts'
import { DirectInput } from './schema-direct.ts'
import { create } from './service.ts'
import { rename } from './service-changing.ts'
import { direct } from './service-direct.ts'

/** {@link create} for a client of the service: only administrators set a `ref`: no user takes one before the host. */
export const createByClient = useCase({
  ...create,
  run: (ctx, actor, input): Promise<CreatedConversation> => {
    assertMayRef(actor, input)
    return create.run(ctx, actor, input)
  },
})

/** {@link rename} for a client of the service: only administrators set a `ref`, as for {@link createByClient}. */
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
  if (ref !== undefined && !actor.roles.includes('admin'))
    throw new ChatError('forbidden', {
      reason: 'role',
      message: 'Only an administrator sets the ref of a conversation over HTTP.',
    })
}
