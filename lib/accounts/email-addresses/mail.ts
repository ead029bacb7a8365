import type { Context, Mail } from '../../context.ts'

/** Sends a mail later, so that the response shows neither its duration nor its failure. */
export function post(ctx: Context, userId: string, mail: Mail): void {
  setImmediate(async () => {
    try {
      await ctx.mail?.(mail)
    } catch (error) {
      // Libraries put the unsent mail into their errors.
      const cause = String(error).replaceAll(mail.token, '[token]')
      ctx.log.error('A mail could not be sent', { user_id: userId, cause })
    }
  })
}
