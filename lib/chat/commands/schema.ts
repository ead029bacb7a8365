import * as v from 'valibot'
import { Person } from '../../accounts/users/schema.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, IdempotencyKey, text } from '../../core/schema.ts'

const NAME = '^[a-z0-9_-]{1,32}$'

const Name = v.pipe(text(MAX_LENGTH.command), v.regex(/^[a-z0-9_-]{1,32}$/), v.metadata({ pattern: NAME }))

const Description = text(MAX_LENGTH.label)

const TYPES = ['string', 'integer', 'number', 'boolean', 'user'] as const

// Each by name: some client generators do not support a list of types.
export const CommandText = v.string()
export const CommandNumber = v.number()
export const CommandFlag = v.boolean()

export const ChoiceText = text(MAX_LENGTH.label)
export const ValueText = text(MAX_LENGTH.command_value)
export const ValueNumber = v.pipe(v.number(), v.finite())

/** An option of a command that is set. */
export const CommandOptionInput = v.object({
  name: Name,
  description: Description,
  type: v.pipe(v.picklist(TYPES), v.description('The value of a `user` is an id')),
  required: v.optional(v.boolean()),
  choices: v.optional(
    v.pipe(
      v.array(v.union([ChoiceText, ValueNumber])),
      v.minLength(1),
      v.maxLength(25),
      v.description('The only values, of the type of the option'),
    ),
  ),
})

/** A command that is set. */
export const BotCommandInput = v.object({
  name: Name,
  description: Description,
  options: v.optional(v.pipe(v.array(CommandOptionInput), v.maxLength(10))),
})

/** All commands of a program; they replace those that it had. */
export const CommandsInput = v.object({ commands: v.pipe(v.array(BotCommandInput), v.maxLength(50)) })
export type CommandsInput = v.InferOutput<typeof CommandsInput>

/** An option of a command. */
export const CommandOption = v.object({
  name: v.string(),
  description: v.string(),
  type: v.picklist(TYPES),
  required: v.optional(v.boolean()),
  choices: v.optional(v.array(v.union([CommandText, CommandNumber]))),
})
export type CommandOption = v.InferOutput<typeof CommandOption>

/** A command of a program. */
export const BotCommand = v.object({
  name: v.string(),
  description: v.string(),
  options: v.optional(v.array(CommandOption)),
})
export type BotCommand = v.InferOutput<typeof BotCommand>

/** The commands of a program. */
export const BotCommands = v.object({ commands: v.array(BotCommand) })
export type BotCommands = v.InferOutput<typeof BotCommands>

/** A command that may be called in a conversation, with its program. */
export const Command = v.object({ ...BotCommand.entries, bot: Person })
export type Command = v.InferOutput<typeof Command>

export const Commands = v.object({ commands: v.array(Command) })
export type Commands = v.InferOutput<typeof Commands>

/** The values of the options of a call, by name. */
export const CommandValues = v.record(Name, v.union([ValueText, ValueNumber, CommandFlag]))
export type CommandValues = v.InferOutput<typeof CommandValues>

/** A call of a command. */
export const CommandCall = v.object({
  bot_id: Id,
  name: Name,
  options: v.optional(CommandValues, {}),
  root_id: v.optional(v.pipe(Id, v.description('The thread in which it is called'))),
})
export type CommandCall = v.InferOutput<typeof CommandCall>

const CallKey = v.pipe(
  IdempotencyKey,
  v.description('The same call with the same key is made once, however often it is sent within a day'),
)

export const CommandHeader = v.object({ 'idempotency-key': v.optional(CallKey) })

/** A call with its idempotency key. */
export const CommandPost = v.object({ ...CommandCall.entries, idempotency_key: v.optional(CallKey) })
export type CommandPost = v.InferOutput<typeof CommandPost>

/** The id of a call: the program names it in what it answers, for 15 minutes. */
export const CalledCommand = v.object({ invocation_id: Id, idempotency_replayed: v.optional(v.literal('true')) })
export type CalledCommand = v.InferOutput<typeof CalledCommand>

/** The values of the options of a call, by name, as its program gets them. */
export const InvocationValues = v.record(v.string(), v.union([CommandText, CommandNumber, CommandFlag]))

/** A call as its program gets it. */
export const CommandInvocation = v.object({
  invocation_id: Id,
  conversation_id: Id,
  root_id: v.optional(Id),
  user_id: v.pipe(Id, v.description('The user who has called the command')),
  name: v.string(),
  options: InvocationValues,
})
export type CommandInvocation = v.InferOutput<typeof CommandInvocation>

/** The call that a text of a program answers; missing once the caller is erased. */
export const AnsweredCall = v.object({ user_id: Id, name: v.string() })
export type AnsweredCall = v.InferOutput<typeof AnsweredCall>
