import * as v from 'valibot'
import { ChosenUsername, DisplayName, Person } from '../../accounts/users/schema.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, text } from '../../core/schema.ts'

const Description = v.pipe(text(MAX_LENGTH.remark), v.description('What it does, for its owner and administrators'))

/** A new bot. */
export const BotInput = v.object({
  username: ChosenUsername,
  display_name: v.optional(DisplayName),
  description: v.optional(Description),
})
export type BotInput = v.InferOutput<typeof BotInput>

/** A new bot of the user that the operator names. */
export const BotOfUser = v.object({
  ...BotInput.entries,
  owner_id: v.optional(v.pipe(Id, v.description('The user whose bot it is: for the operator alone'))),
})
export type BotOfUser = v.InferOutput<typeof BotOfUser>

/** A change of a bot; missing fields keep their value. */
export const BotChanges = v.object({
  username: v.optional(ChosenUsername),
  display_name: v.optional(
    v.pipe(DisplayName, v.description('At least one visible character; an empty text removes it')),
  ),
  description: v.optional(v.pipe(Description, v.description('An empty text removes it'))),
  disabled: v.optional(v.pipe(v.boolean(), v.description('true refuses its keys and closes its streams'))),
})
export type BotChanges = v.InferOutput<typeof BotChanges>

/** The user whose bots the operator lists. */
export const BotsQuery = v.object({
  owner_id: v.optional(v.pipe(Id, v.description('The user whose bots to list: for the operator alone'))),
})
export type BotsQuery = v.InferOutput<typeof BotsQuery>

/** A bot as its owner reads it. */
export const Bot = v.object({
  ...Person.entries,
  owner_id: Id,
  description: v.optional(v.string()),
  disabled_reason: v.optional(
    v.pipe(
      v.picklist(['user', 'admin']),
      v.description('Of a disabled bot: who has disabled it. After `admin`, only an administrator enables it'),
    ),
  ),
  created_at: Instant,
})
export type Bot = v.InferOutput<typeof Bot>

export const BotAnswer = v.object({ bot: Bot })
export type BotAnswer = v.InferOutput<typeof BotAnswer>

export const Bots = v.object({ bots: v.array(Bot) })
export type Bots = v.InferOutput<typeof Bots>

/** A new bot with its first key. */
export const CreatedBot = v.object({
  bot: Bot,
  key: v.pipe(v.string(), v.description('For `Authorization: Bearer`; shown only once')),
})
export type CreatedBot = v.InferOutput<typeof CreatedBot>
