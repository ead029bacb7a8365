import type { UsageReportRow } from 'chat-server/client/admin'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { PagesEnd, usePages } from '../parts/pages.tsx'
import { saveFile } from '../parts/save-file.ts'
import { Select } from '../parts/select.tsx'
import { moneyText, numberText } from '../texts/numbers.ts'
import { usageTexts } from '../texts/settings.ts'
import { dateOf } from '../texts/time.ts'
import { useAdmin } from './admin.ts'

const KINDS = ['user', 'assistant', 'model', 'day', 'conversation'] as const

type Kind = (typeof KINDS)[number]

/** A row with what it is of: what was chosen may be another one by the time it is shown. */
type Row = UsageReportRow & { by: Kind; currency: string }

/** What all users have used of the assistants, by what the administrator chooses. */
export function UsageReport() {
  const admin = useAdmin()
  const words = usageTexts.value
  const [by, setBy] = useState<Kind>('user')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const pages = usePages<Row>(
    async (after, signal) => {
      const query = { by, ...(from && { from }), ...(to && { to }), ...(after && { after }) }
      const { rows, currency, next_after } = await admin.usage.report(query, { signal })
      return { items: rows.map((row) => ({ ...row, by, currency })), next_after }
    },
    [by, from, to],
  )
  const save = useAction(async () => {
    const csv = await admin.usage.reportCsv({ by, ...(from && { from }), ...(to && { to }) })
    saveFile(new Blob([csv], { type: 'text/csv' }), `usage-${by}.csv`)
  })
  return (
    <>
      <p class="hint">{words.report_text}</p>
      <Select label={words.by} value={by} options={KINDS.map((each) => [each, words.kinds[each]])} onChange={setBy} />
      <div class="side-by-side">
        <Field label={words.from} type="date" value={from} onChange={(event) => setFrom(event.currentTarget.value)} />
        <Field label={words.to} type="date" value={to} onChange={(event) => setTo(event.currentTarget.value)} />
      </div>
      <ul class="items usage-report" aria-label={words.kinds[by]}>
        {pages.items?.map((row) => (
          <RowView key={`${row.by} ${row.key}`} row={row} />
        ))}
      </ul>
      <PagesEnd pages={pages} none={words.none} />
      <button type="button" disabled={save.isRunning} onClick={() => void save.run()}>
        {words.csv}
      </button>
      <ErrorNote error={save.error} />
    </>
  )
}

function RowView({ row }: { row: Row }) {
  const words = usageTexts.value
  const { answers, tokens, prompt_tokens, completion_tokens, cost_micros, currency } = row
  return (
    <li>
      <span class="name">
        <strong dir="auto">
          <RowName row={row} />
        </strong>
        <small>
          {`${words.units.answers}: ${numberText(answers)} · ${words.units.tokens}: ${numberText(tokens)} `}
          {`(${words.tokens(numberText(prompt_tokens), numberText(completion_tokens))})`}
        </small>
      </span>
      {cost_micros > 0 && <span class="cost">{moneyText(cost_micros, currency)}</span>}
    </li>
  )
}

/** What a row is of, by its name where that is known. */
function RowName({ row: { by, key } }: { row: Row }): ComponentChildren {
  const { people, store } = useApp()
  const { conversations } = useReadable(store.conversations)
  const words = usageTexts.value
  switch (by) {
    case 'user': {
      if (key === '') return words.erased
      const name = people.nameOf(key)
      const href = hrefOf({ name: 'administration', tab: 'users', id: key })
      return <a href={href}>{people.known.value.has(key) ? name : key}</a>
    }
    case 'assistant':
      return people.assistants.infoOf(key).title
    case 'day':
      return <time datetime={key}>{dateOf(key)}</time>
    case 'conversation': {
      const conversation = conversations.find(({ id }) => id === key)
      return conversation ? titleOf(conversation) : <code>{key}</code>
    }
    default:
      return key || words.no_model
  }
}
