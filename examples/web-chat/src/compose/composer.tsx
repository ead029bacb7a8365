import { commandsOf } from 'chat-server/client/parts'
import type { NewPost } from 'chat-server/client/store'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { enterChoice, isCoarse, isComposing, isSend } from '../app/choices.ts'
import { useApp } from '../app/context.ts'
import type { OfferedAssistant } from '../app/offered-assistant.ts'
import { useReadable } from '../app/readable.ts'
import { oldPosts } from '../app/unsent-storage.ts'
import type { CallResult } from '../commands/call.ts'
import { isCall } from '../commands/query.ts'
import type { Can } from '../conversations/use-can.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { EmojiButton } from '../emoji/emoji-button.tsx'
import { AttachButton } from '../files/attach-button.tsx'
import { sendLater, takeBack } from '../files/send-later.ts'
import { useFiles } from '../files/use-files.ts'
import { offerAlerts } from '../inbox/alerts.ts'
import { actOf, EDIT_LAST, FORMAT_KEYS } from '../keys/table.ts'
import { messageOf } from '../parts/error-note.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { lazy } from '../parts/lazy.tsx'
import { showToast } from '../parts/toast.tsx'
import { texts } from '../texts/texts.ts'
import { Addressee } from './addressee.tsx'
import { askedAssistant } from './asked-assistant.ts'
import { type Draft, keepDraft, readDraft } from './drafts.ts'
import { continueList, dropOf, pasteInto } from './field-events.ts'
import { hasAsked, noteQuestion } from './noticed.ts'
import { TooLong } from './too-long.tsx'

const Completion = lazy(() => import('./completion.tsx').then(({ Completion }) => Completion))
const Calls = lazy(() => import('../commands/calls.tsx').then(({ Calls }) => Calls))
const CallNote = lazy(() => import('../commands/call-note.tsx').then(({ CallNote }) => CallNote))
const NotSent = lazy(() => import('./not-sent.tsx').then(({ NotSent }) => NotSent))
const Toolbar = lazy(() => import('./toolbar.tsx').then(({ Toolbar }) => Toolbar))
const DraftList = lazy(() => import('../files/draft-list.tsx').then(({ DraftList }) => DraftList))

/** What is sent. */
export type WrittenPost = Pick<NewPost, 'content' | 'role' | 'assistant' | 'attachments'>

interface ComposerProps {
  user_id: string
  conversation: OpenConversation
  /** What the draft is for. */
  place: string
  /** What screen readers call it. */
  label: string
  placeholder: string
  /** The other one of a direct conversation, by name. */
  partner?: string | false | undefined
  /** Whether what is written goes to the assistant until the user chooses otherwise; else one question does. */
  isTalk: boolean
  /** The key of the assistant that answers there unless another one is chosen. */
  usual: string | undefined
  /** What the user may do in the conversation. */
  can: Can
  /** The id of the answer to the user that is being written, which can be stopped. */
  running: string | undefined
  /** The field gets the focus when this changes. */
  focus_key?: string | undefined
  onSend: (post: WrittenPost) => Promise<void>
  /** Edits the last own message: an arrow up in an empty box. */
  onEditLast?: () => void
  onTyping: () => void
}

/** Writes a message, or a question to the assistant. Enter sends, with Shift it begins a line. */
export function Composer(props: ComposerProps) {
  const { user_id, conversation, place, label, placeholder, isTalk, can, running, focus_key } = props
  const conversation_id = conversation.id
  const { onSend, onEditLast, onTyping } = props
  const app = useApp()
  const { features, store, people } = app
  const offered = can.has('ask') ? people.assistants.offeredIn(conversation.policy) : []
  const attachments = can.has('attach') ? features.attachments : undefined
  const { composer } = texts.value
  const [draft] = useState(() => readDraft(user_id, place))
  const [text, setText] = useState(draft?.text ?? '')
  const [isAsking, setAsking] = useState(draft?.asks ?? isTalk)
  const [chosen, setChosen] = useState(draft?.assistant)
  const asked = isAsking ? askedAssistant(offered, chosen, props.usual) : undefined
  const asks = asked !== undefined
  const notice = asks && !hasAsked(user_id) ? people.assistants.notice() : undefined
  const field = useRef<HTMLTextAreaElement>(null)
  const hasOld = useMemo(() => oldPosts(user_id, place, isTalk).length > 0, [place])
  const excess = new TextEncoder().encode(text).length - features.limits.message_bytes
  const files = useFiles(conversation_id, place, draft?.files, (kept) => keep({ files: kept }))
  const [isDropping, setDropping] = useState(false)
  const [isFormatting, setFormatting] = useState(false)
  const [refusal, setRefusal] = useState<CallResult>()
  const isCommand = !asks && isCall(text)
  // What no bot has as a command is a message, once the user knows.
  const callsCommand = isCommand && refusal !== 'unknown'
  // A call has no files: they wait for the next message.
  const hasFiles = !callsCommand && files.uploads.length > 0
  // Files alone ask nothing.
  const isReady = (text.trim() !== '' || (hasFiles && !asks)) && !(hasFiles && files.haveFailed) && excess <= 0
  // The next question waits for the answer.
  const canSend = isReady && !(asks && running !== undefined)
  // It is sent once its files are uploaded, unless it changes before.
  const [isWaiting, setWaiting] = useState(() => takeBack(place))
  const waits = isWaiting && canSend && hasFiles && !files.areReady
  // So it is when the user goes elsewhere meanwhile.
  const leave = useRef<(() => void) | undefined>(undefined)
  leave.current = waits ? () => sendLater(place, files.added, post) : undefined
  useEffect(() => () => leave.current?.(), [])
  const isCalling = useRef(false)
  const root_id = place === conversation_id ? undefined : place
  const calls = useReadable(commandsOf(store).calls(conversation_id)).filter((each) => each.root_id === root_id)
  const wasTalk = useRef(isTalk)
  useEffect(() => {
    if (wasTalk.current !== isTalk) setAsking(isTalk)
    wasTalk.current = isTalk
  }, [isTalk])
  useEffect(() => {
    if (!isWaiting || waits) return
    setWaiting(false)
    if (canSend) send()
  }, [isWaiting, waits])
  useLayoutEffect(() => {
    if (focus_key !== undefined) field.current?.focus()
  }, [focus_key])

  function keep(change: Partial<Draft>): void {
    keepDraft(user_id, place, { conversation_id, ...change })
  }

  function change(next: string): void {
    setText(next)
    setRefusal(undefined)
    setWaiting(false)
    keep({ text: next, asks, assistant: chosen })
  }

  function ask(next: OfferedAssistant | undefined): void {
    setAsking(next !== undefined)
    setChosen(next?.key)
    setWaiting(false)
    if (text !== '') keep({ asks: next !== undefined, assistant: next?.key })
    field.current?.focus()
  }

  function send(): void {
    if (!canSend) return
    if (callsCommand) {
      void call()
      return
    }
    if (hasFiles && !files.areReady) {
      setWaiting(true)
      return
    }
    post()
    setAsking(isTalk)
    setChosen(undefined)
    offerAlerts()
    if (!isCoarse()) field.current?.focus()
  }

  async function call(): Promise<void> {
    if (isCalling.current) return
    isCalling.current = true
    try {
      const { callCommand } = await import('../commands/call.ts')
      const result = await callCommand(app, { conversation_id, root_id, text: text.trim() })
      if (field.current?.value !== text) return
      if (result === 'called') change('')
      else setRefusal(result)
    } catch (error) {
      showToast(messageOf(error), { isError: true })
    } finally {
      isCalling.current = false
    }
  }

  function makeFile(): void {
    files.add([new File([text], 'message.md', { type: 'text/markdown' })])
    change('')
    field.current?.focus()
  }

  function post(): void {
    change('')
    const taken = hasFiles ? files.take() : []
    keep({ files: [] })
    if (asks) noteQuestion(user_id)
    const more = taken.length > 0 && { attachments: taken }
    void onSend({ content: text.trim(), role: asks ? 'assistant' : 'user', assistant: asked?.key, ...more })
  }

  return (
    <form
      class="composer"
      data-asks={asks}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      {...(attachments && dropOf(files.add, setDropping))}
      onPaste={(event) => pasteInto(field.current!, event, attachments && files.add)}
      data-dropping={isDropping}
    >
      {hasOld && <NotSent user_id={user_id} place={place} isTalk={isTalk} />}
      {(files.uploads.length > 0 || files.refusal) && (
        <DraftList {...files} isKept={callsCommand} isWaiting={waits} onCancel={() => setWaiting(false)} />
      )}
      {calls.length > 0 && <Calls conversation_id={conversation_id} calls={calls} />}
      {isCommand && <CallNote conversation_id={conversation_id} text={text} refusal={refusal} />}
      {notice && (
        <p class="note assistant-notice" dir="auto">
          {notice}
        </p>
      )}
      {isFormatting && <Toolbar field={field} />}
      <Completion field={field} conversation_id={conversation_id} offered={offered} onAssistant={ask} />
      <textarea
        aria-autocomplete="list"
        ref={field}
        rows={1}
        enterkeyhint={isCoarse() ? 'enter' : 'send'}
        dir="auto"
        aria-label={label}
        title={composer.hints[enterChoice.value]}
        placeholder={asks ? composer.question(asked.title) : placeholder}
        value={text}
        onInput={(event) => {
          change(event.currentTarget.value)
          if (event.currentTarget.value.trim() !== '') onTyping()
        }}
        onKeyDown={(event) => {
          if (text === '' && onEditLast && actOf(EDIT_LAST, event)) {
            event.preventDefault()
            onEditLast()
          }
          const kind = actOf(FORMAT_KEYS, event)
          if (kind) {
            event.preventDefault()
            const target = event.currentTarget
            void import('./formatting.ts').then(({ format }) => format(target, kind))
          }
          if (event.key !== 'Enter' || isComposing(event)) return
          if (!isSend(event)) return continueList(event)
          event.preventDefault()
          send()
        }}
      />
      {offered.length > 0 && (
        <Addressee offered={offered} asked={asked} onChange={ask} others={props.partner || composer.all} />
      )}
      {attachments && <AttachButton onFiles={files.add} />}
      <button
        type="button"
        class="icon-button"
        aria-label={composer.formatting}
        title={composer.formatting}
        aria-expanded={isFormatting}
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => setFormatting(!isFormatting)}
      >
        Aa
      </button>
      <EmojiButton field={field} />
      {running !== undefined && !canSend ? (
        <IconButton
          key="stop"
          icon="stop"
          label={texts.value.messages.stop}
          class="icon-button send"
          onClick={() => {
            field.current?.focus()
            store.cancelAnswer(running).catch((error: unknown) => showToast(messageOf(error), { isError: true }))
          }}
        />
      ) : (
        <IconButton
          key="send"
          type="submit"
          icon="send"
          label={composer.send}
          class="icon-button send"
          disabled={!canSend}
          // It takes no focus: the keys on the screen stay.
          onPointerDown={(event) => event.preventDefault()}
        />
      )}
      {excess > 0 && <TooLong excess={excess} onFile={attachments && makeFile} />}
    </form>
  )
}
