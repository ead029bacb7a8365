import { useSignalEffect } from '@preact/signals'
import { type Approval, ChatError } from 'chat-server/client'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { changedApproval } from '../app/changed-message.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { useSeconds } from '../parts/use-seconds.ts'
import { answersTexts } from '../texts/answers.ts'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { durationText } from './duration-text.ts'
import { ToolValue } from './tool-value.tsx'
import { visibleText } from './visible-text.ts'

/** As the service has it. */
const MAX_REASON = 500

/** From here on, a time is easier to read than what is left. */
const MANY_SECONDS = 2 * 86_400

/** A call that waits until participants decide on it: what would run, who decides, and for them the decision. */
export function ApprovalCard({ call_id }: { call_id: string }) {
  const { client, people } = useApp()
  const { value, error, reload } = useLoad(
    (signal) => client.approvals.get(call_id, { signal }),
    [call_id, people.outdated.value],
  )
  useSignalEffect(() => {
    if (changedApproval.value?.call_id === call_id) reload()
  })
  if (value) return value.state === 'waiting' ? <OpenCard approval={value} reload={reload} /> : null
  return error ? <ErrorNote error={error} onRetry={reload} /> : <p class="note">{texts.value.loading}</p>
}

function OpenCard({ approval, reload }: { approval: Approval; reload: () => void }) {
  const { tool, input, may_decide } = approval
  const words = answersTexts.value
  const card = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const { current } = card
    // It closes when another one decides, too: who is in it goes on at the line of the tool.
    return () => {
      if (current?.contains(document.activeElement)) current.closest<HTMLElement>('.tool')?.focus()
    }
  }, [])
  const title = words.approval.title(visibleText(tool.title))
  return (
    <section ref={card} class="approval" aria-label={title}>
      <strong dir="auto">{title}</strong>
      {tool.title !== tool.name && <code>{tool.name}</code>}
      {input === undefined ? (
        <p>{words.approval.unseen_input}</p>
      ) : (
        <ToolValue label={words.tool_input} value={input} />
      )}
      <WhoDecides approval={approval} />
      <Votes votes={approval.votes} />
      <TimeLeft until={approval.expires_at} />
      {may_decide && <Decision approval={approval} reload={reload} />}
    </section>
  )
}

/** Who decides, and how many have approved where one is not enough. */
function WhoDecides({ approval: { by, requested_by, quorum, votes } }: { approval: Approval }) {
  const { people, session } = useApp()
  const { approval: words } = answersTexts.value
  if (by === 'asker') {
    const isOwn = requested_by !== undefined && requested_by === session.user.value?.id
    return <p>{isOwn ? words.you : words.asker(people.nameOf(requested_by))}</p>
  }
  const have = votes.filter(({ approve }) => approve).length
  return (
    <p>
      {words[by]} {quorum > 1 && words.quorum(have, quorum)}
    </p>
  )
}

function Votes({ votes }: Pick<Approval, 'votes'>) {
  const { people } = useApp()
  const { approval: words } = answersTexts.value
  if (votes.length === 0) return null
  return (
    <ul>
      {votes.map(({ user_id, approve, at, reason }) => (
        <li key={user_id ?? at}>
          <bdi>{(approve ? words.approved : words.denied)(people.nameOf(user_id))}</bdi>
          {reason !== undefined && <q dir="auto">{visibleText(reason)}</q>}
        </li>
      ))}
    </ul>
  )
}

function TimeLeft({ until }: { until: string }) {
  const { approval: words } = answersTexts.value
  const seconds = useSeconds(Date.parse(until))
  const end = words.until(shortTime(until))
  if (seconds > MANY_SECONDS) return <p title={longTime(until)}>{end}</p>
  return (
    <p title={longTime(until)}>
      {/* A screen reader would read every second of it. */}
      <span aria-hidden="true">{words.left(durationText(seconds))}</span>
      <span class="hidden">{end}</span>
    </p>
  )
}

function Decision({ approval, reload }: { approval: Approval; reload: () => void }) {
  const { client, session } = useApp()
  const { approval: words } = answersTexts.value
  const { call_id, by, requested_by, votes } = approval
  const [reason, setReason] = useState('')
  const { run, isRunning, error } = useAction(async (approve: boolean) => {
    const said = reason.trim()
    await client.approvals.decide(call_id, { approve, ...(said && { reason: said }) }).finally(reload)
  })
  const own = session.user.value?.id
  const hasApproved = votes.some(({ user_id, approve }) => approve && user_id === own)
  // Those who manage the conversation may deny what is for the asker to approve.
  const mayApprove = by !== 'asker' || requested_by === own
  return (
    <>
      <label class="field">
        <span>{words.reason}</span>
        <input
          value={reason}
          maxLength={MAX_REASON}
          autocomplete="off"
          dir="auto"
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </label>
      <DecisionError error={error} />
      {/* Neither is disabled: who has just pressed it would lose the focus. */}
      <div class="approval-buttons" aria-busy={isRunning}>
        {mayApprove && (
          <button
            type="button"
            class="primary"
            aria-disabled={hasApproved}
            onClick={() => !hasApproved && void run(true)}
          >
            {words.approve}
          </button>
        )}
        <button type="button" class="danger" onClick={() => void run(false)}>
          {words.deny}
        </button>
      </div>
    </>
  )
}

function DecisionError({ error }: { error: unknown }) {
  const { approval: words } = answersTexts.value
  const code = error instanceof ChatError ? error.code : undefined
  if (code !== 'conflict' && code !== 'forbidden') return <ErrorNote error={error} />
  return (
    <p class="error" role="alert">
      {code === 'conflict' ? words.too_late : words.not_yours}
    </p>
  )
}
