import type { CommandProblem } from 'chat-server/client'
import { commandsOf } from 'chat-server/client/parts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { composeTexts } from '../texts/compose.ts'
import { type CallResult, namesIn } from './call.ts'
import { hintOf } from './hint.ts'
import { finishedProblems, parseCall, waitingOption } from './options.ts'
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
  const names = namesIn(people, conversation_id)
  const parsed = parseCall(text, commands, names)
  const { commands: words } = composeTexts.value
  if (!parsed) return null
  const { command, name, problems, options } = parsed
  if (refusal === 'unknown')
    return (
      <p class="call-note error" role="alert">
        {words.unknown(name)}
      </p>
    )
  const waiting = waitingOption(text, commands, names)?.option
  const next = waiting ?? command?.options?.find((option) => options[option.name] === undefined)
  const wrong = refusal === 'refused' ? [] : finishedProblems(text, commands, names)
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
      <div class={wrong.length > 0 ? 'error' : undefined} role="status">
        <Problems problems={wrong} name={name} />
      </div>
      {refusal === 'refused' && problems.length > 0 && (
        <div class="error" role="alert">
          <Problems problems={problems} name={name} />
        </div>
      )}
    </div>
  )
}

function Problems({ problems, name }: { problems: readonly CommandProblem[]; name: string }) {
  if (problems.length === 0) return null
  return (
    <ul>
      {problems.map((problem) => (
        <li key={problem.message}>{sentenceOf(problem, name)}</li>
      ))}
    </ul>
  )
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
