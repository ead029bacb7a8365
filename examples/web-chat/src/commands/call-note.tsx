import { type CommandOption, type CommandProblem, parseCommand } from 'chat-server/client'
import { commandsOf } from 'chat-server/client/parts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { composeTexts } from '../texts/compose.ts'
import { type CallResult, namesIn } from './call.ts'
import { callNameOf, signatureOf } from './query.ts'

interface CallNoteProps {
  conversation_id: string
  text: string
  /** Why it was not called. */
  refusal: CallResult | undefined
}

/** What the command of a text takes, and why it was not called. */
export function CallNote({ conversation_id, text, refusal }: CallNoteProps) {
  const { store, people } = useApp()
  const { commands } = useReadable(commandsOf(store).list(conversation_id))
  const parsed = parseCommand(text, commands, namesIn(people, conversation_id))
  const { commands: words } = composeTexts.value
  if (!parsed) return null
  const { command, name, problems, options } = parsed
  if (refusal === 'unknown')
    return (
      <p class="call-note error" role="alert">
        {words.unknown(name)}
      </p>
    )
  const next = command?.options?.find((option) => options[option.name] === undefined)
  return (
    <div class="call-note">
      {command && (
        <p>
          <code>
            {callNameOf(command, commands)} {signatureOf(command)}
          </code>{' '}
          <span dir="auto">{command.description}</span>
        </p>
      )}
      {next && (
        <p>
          <b dir="auto">{next.name}</b> <span dir="auto">{next.description}</span> {hintOf(next)}
        </p>
      )}
      {refusal === 'refused' && problems.length > 0 && (
        <div class="error" role="alert">
          <ul>
            {problems.map((problem) => (
              <li key={problem.message}>{sentenceOf(problem, name)}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}

/** What may be given for an option. */
function hintOf({ type, choices }: CommandOption): string {
  const { types } = composeTexts.value.commands
  return `(${choices ? choices.join(', ') : types[type]})`
}

/** A sentence for a problem, in the language of the page. */
function sentenceOf({ code, option, text = '' }: CommandProblem, name: string): string {
  const { problems, types } = composeTexts.value.commands
  switch (code) {
    case 'unknown_command':
      return composeTexts.value.commands.unknown(name)
    case 'ambiguous_command':
      return problems.ambiguous(name)
    case 'missing_option':
      return problems.missing(option!.name)
    case 'repeated_option':
      return problems.repeated(option!.name)
    case 'no_choice':
      return problems.choice(option!.name, option!.choices!.join(', '))
    case 'wrong_type':
      return problems.type(option!.name, types[option!.type])
    case 'unexpected_text':
      return problems.surplus(text)
    case 'open_quote':
      return problems.quote(text)
  }
}
