import { commandsOf } from 'chat-server/client/parts'
import type { RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isComposing } from '../app/choices.ts'
import { type App, useApp } from '../app/context.ts'
import type { OfferedAssistant } from '../app/offered-assistant.ts'
import type { Person } from '../app/people.ts'
import { commandsFor, optionsFor } from '../commands/choices.tsx'
import { type OfferedOption, type OptionQuery, optionEdit, optionQueryOf } from '../commands/options.ts'
import { type CommandQuery, commandEdit, commandQueryOf } from '../commands/query.ts'
import { type Emoji, findEmoji, withTone } from '../emoji/emoji.ts'
import { keepRecent, skinTone } from '../emoji/kept-emoji.ts'
import { loadEmoji } from '../emoji/load-emoji.ts'
import { announce } from '../parts/announcer.tsx'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { Icon } from '../parts/icon.tsx'
import { useParticipants } from '../switch/use-lookups.ts'
import { composeTexts } from '../texts/compose.ts'
import { language } from '../texts/language.ts'
import { type Choice, Choices } from './choices.tsx'
import { replaceIn } from './edit.ts'
import { type EmojiQuery, emojiEdit, emojiQueryOf } from './emoji-query.ts'
import { mentionChoices } from './mention-choices.ts'
import { type MentionChoice, type MentionQuery, mentionEdit, mentionQueryOf } from './mention-query.ts'

/** How many emoji are offered at once. */
const MAX_EMOJI = 6

/** Keys that move the caret: another name may be before it then. */
const MOVES = ['ArrowLeft', 'ArrowRight', 'Home', 'End']

/** What is being typed. */
type Query =
  | { kind: 'mention'; typed: MentionQuery }
  | { kind: 'emoji'; typed: EmojiQuery }
  | { kind: 'command'; typed: CommandQuery }
  | { kind: 'option'; typed: OptionQuery }

interface CompletionProps {
  field: RefObject<HTMLTextAreaElement | null>
  conversation_id: string
  /** The assistants that may be asked, if the text may be a question. */
  offered?: readonly OfferedAssistant[]
  /** Called with the one that is chosen. */
  onAssistant?: (asked: OfferedAssistant) => void
}

/** Offers names behind an `@` and emoji behind a colon: arrows choose one, Enter and Tab take it, Escape closes the list. */
export function Completion({ field, conversation_id, offered = [], onAssistant }: CompletionProps) {
  const app = useApp()
  const id = useId()
  const [query, setQuery] = useState<Query>()
  const [emoji, setEmoji] = useState<readonly Emoji[]>()
  const [at, setAt] = useState<number>()
  const [, setCommandsRead] = useState(0)
  const commands = commandsOf(app.store).list(conversation_id)
  const closed = useRef<number | undefined>(undefined)
  const further = useParticipants(conversation_id, query?.kind === 'mention' ? query.typed.query : '').items
  const choices = query ? choicesFor(query) : []
  const first = choices[0]?.isExtra ? -1 : 0
  const chosen = Math.min(at ?? first, choices.length - 1)

  function choicesFor({ kind, typed }: Query): Choice[] {
    if (kind === 'mention') return namesFor(app, conversation_id, offered, further, typed, takeName)
    if (kind === 'command') return commandsFor(commands.getSnapshot().commands, typed, takeCommand)
    if (kind === 'option') return optionChoices(typed)
    if (typed.isComplete) return []
    return findEmoji(emoji ?? [], typed.query, MAX_EMOJI).map((each) => {
      const sign = withTone(each, Number(skinTone.value))
      return {
        id: each.sign,
        sign: <span class="emoji-sign">{sign}</span>,
        name: each.name,
        code: `:${each.codes[0]}:`,
        take: () => takeEmoji(typed, sign),
      }
    })
  }

  function optionChoices(typed: OptionQuery): Choice[] {
    return optionsFor(app, conversation_id, commands.getSnapshot().commands, typed, takeOption)
  }

  function takeName(typed: MentionQuery, { username, assistant }: MentionChoice): void {
    replaceIn(field.current!, mentionEdit(field.current!.value, typed, assistant ? undefined : username))
    if (assistant) onAssistant?.(assistant)
    setQuery(undefined)
  }

  function takeCommand(typed: CommandQuery, name: string): void {
    replaceIn(field.current!, commandEdit(field.current!.value, typed, name))
    read()
  }

  function takeOption(typed: OptionQuery, offered: OfferedOption): void {
    replaceIn(field.current!, optionEdit(typed, offered))
    read()
  }

  function takeEmoji(typed: EmojiQuery, sign: string): void {
    replaceIn(field.current!, emojiEdit(field.current!.value, typed, sign))
    keepRecent(sign)
    setQuery(undefined)
  }

  function read(): void {
    const { value, selectionStart, selectionEnd } = field.current!
    const next = selectionStart === selectionEnd ? queryAt(value, selectionStart) : undefined
    if (next?.typed.start !== closed.current) closed.current = undefined
    setAt(undefined)
    setQuery(closed.current === undefined ? next : undefined)
    if (next?.kind !== 'emoji') return
    const complete = next.typed.isComplete && emoji?.find(({ codes }) => codes.includes(next.typed.query.toLowerCase()))
    if (complete) takeEmoji(next.typed, withTone(complete, Number(skinTone.value)))
  }

  /** What no option is, such as a name in a text for a program, may be another query. */
  function queryAt(value: string, caret: number): Query | undefined {
    const option = optionQueryOf(value, caret)
    const isOption = option && (commands.getSnapshot().status === 'loading' || optionChoices(option).length > 0)
    return isOption ? { kind: 'option', typed: option } : queryOf(value, caret)
  }

  function press(event: KeyboardEvent): void {
    if (choices.length === 0 || isComposing(event)) return
    const { key } = event
    // The box sends it.
    if (key === 'Enter' && (chosen < 0 || choices[chosen]!.isWhole)) {
      setQuery(undefined)
      return
    }
    if (key === 'ArrowDown') setAt((chosen + 1) % choices.length)
    else if (key === 'ArrowUp') setAt((chosen > 0 ? chosen : choices.length) - 1)
    else if ((key === 'Enter' || key === 'Tab') && !event.shiftKey) choices[Math.max(chosen, 0)]!.take()
    else if (key === 'Escape') {
      closed.current = query!.typed.start
      setQuery(undefined)
    } else return
    event.preventDefault()
    // The box does nothing with it.
    event.stopImmediatePropagation()
  }

  const isOfCommands = query?.kind === 'command' || query?.kind === 'option'
  useEffect(() => {
    if (!isOfCommands) return
    // What a bot has set since is read, too.
    if (commands.getSnapshot().status === 'ready') void commands.reload()
    return commands.subscribe(() => setCommandsRead((count) => count + 1))
  }, [isOfCommands, commands])
  const isOfEmoji = query?.kind === 'emoji'
  useEffect(() => {
    if (!isOfEmoji) return
    let isHere = true
    loadEmoji().then(
      (all) => isHere && setEmoji(all),
      // Without a network there are none to offer.
      () => {},
    )
    return () => {
      isHere = false
    }
  }, [isOfEmoji, language.value])
  // One that was complete before they were loaded.
  useEffect(() => {
    if (emoji && isOfEmoji) read()
  }, [emoji])
  useEffect(() => {
    if (choices.length > 0) announce(foundText(query!)(choices.length))
  }, [choices.length])

  const act = useRef({ read, press })
  act.current = { read, press }
  useLayoutEffect(() => {
    const { current } = field
    const listeners: [string, (event: Event) => void][] = [
      ['input', () => act.current.read()],
      ['click', () => act.current.read()],
      ['keyup', (event) => MOVES.includes((event as KeyboardEvent).key) && act.current.read()],
      ['keydown', (event) => act.current.press(event as KeyboardEvent)],
      ['blur', () => setQuery(undefined)],
    ]
    // Before what the box itself does with a key.
    for (const [type, listener] of listeners) current?.addEventListener(type, listener, { capture: true })
    return () => {
      for (const [type, listener] of listeners) current?.removeEventListener(type, listener, { capture: true })
    }
  }, [])
  const isOpen = choices.length > 0
  useLayoutEffect(() => {
    if (!isOpen) return
    const { current } = field
    current?.setAttribute('aria-controls', id)
    if (chosen >= 0) current?.setAttribute('aria-activedescendant', `${id}-${chosen}`)
    return () => {
      current?.removeAttribute('aria-controls')
      current?.removeAttribute('aria-activedescendant')
    }
  }, [isOpen, chosen])
  if (!isOpen) return null
  return <Choices id={id} label={labelOf(query!)} choices={choices} chosen={chosen} />
}

function queryOf(text: string, caret: number): Query | undefined {
  const command = commandQueryOf(text, caret)
  if (command) return { kind: 'command', typed: command }
  const mention = mentionQueryOf(text, caret)
  if (mention) return { kind: 'mention', typed: mention }
  const emoji = emojiQueryOf(text, caret)
  return emoji && { kind: 'emoji', typed: emoji }
}

function labelOf({ kind }: Query): string {
  const { completion, emoji, commands } = composeTexts.value
  if (kind === 'command') return commands.title
  if (kind === 'option') return commands.options
  return kind === 'mention' ? completion.mention : emoji.title
}

/** How many were found, in words. */
function foundText({ kind }: Query): (count: number) => string {
  const { completion, emoji, commands } = composeTexts.value
  return { mention: completion.names, emoji: emoji.found, command: commands.found, option: commands.suggested }[kind]
}

function namesFor(
  app: App,
  conversation_id: string,
  offered: readonly OfferedAssistant[],
  further: readonly Person[],
  typed: MentionQuery,
  take: (typed: MentionQuery, choice: MentionChoice) => void,
): Choice[] {
  return mentionChoices(app, conversation_id, typed.query, offered, further).map((choice) => ({
    id: choice.id,
    sign: signOf(choice),
    name: choice.name,
    code: choice.username && `@${choice.username}`,
    take: () => take(typed, choice),
  }))
}

function signOf({ id, assistant, name }: MentionChoice) {
  if (assistant) return <AssistantAvatar info={assistant} />
  if (id !== 'all') return <Avatar id={id} name={name} />
  return (
    <span class="avatar sign" aria-hidden="true">
      <Icon name="people" />
    </span>
  )
}
