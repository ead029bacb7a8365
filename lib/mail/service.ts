import { assertAdmin } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { useCase } from '../core/use-case.ts'
import { type MailPage, MailSelection, MailsQuery } from './schema.ts'
import { deleteMails, listMails, retryMails, toMailRecord } from './store.ts'

/** A page of the mails that wait or were given up, oldest first. @throws ChatError `forbidden` */
export const list = useCase({
  takes: ['actor'],
  input: MailsQuery,
  run: async (ctx, actor, { after, limit }): Promise<MailPage> => {
    assertAdmin(actor)
    const rows = await listMails(ctx.db, after ?? '', limit + 1)
    const mails = rows.slice(0, limit).map(toMailRecord)
    return { mails, ...(rows.length > limit && { next_after: rows[limit - 1]!.id }) }
  },
})

/** Has mails tried at once: one, or all, failed ones too. @throws ChatError `forbidden`, `not_found` */
export const retry = useCase({
  takes: ['actor'],
  input: MailSelection,
  errors: ['not_found'],
  run: async (ctx, actor, { id }): Promise<{ retried: number }> => {
    assertAdmin(actor)
    const retried = await ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      return retryMails(tx, id)
    })
    if (id !== undefined && retried === 0) throw new ChatError('not_found')
    ctx.tasks.wake()
    return { retried }
  },
})

/** Deletes mails unsent: one, or all. @throws ChatError `forbidden`, `not_found` */
export const drop = useCase({
  takes: ['actor'],
  input: MailSelection,
  errors: ['not_found'],
  run: async (ctx, actor, { id }): Promise<{ dropped: number }> => {
    assertAdmin(actor)
    const dropped = await ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      return deleteMails(tx, id)
    })
    if (id !== undefined && dropped === 0) throw new ChatError('not_found')
    return { dropped }
  },
})
