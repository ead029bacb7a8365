import type { Bot, CreatedBot } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { Avatar } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useLoad } from '../parts/load.ts'
import { OnceShown } from '../parts/once-shown.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { botsTexts } from '../texts/integrations.ts'
import { accountTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { BotDetails } from './bot-details.tsx'
import { BotFields } from './bot-fields.tsx'
import { useConfirmed } from './confirmed.tsx'

/** The bots of the user, or the one that the address names. */
export function Bots({ id }: { id: string | undefined }) {
  const { client } = useApp()
  const words = botsTexts.value
  const { value, error, reload } = useLoad(async (signal) => {
    const [{ bots }, { can }] = await Promise.all([client.bots.list({ signal }), client.auth.me({ signal })])
    return { bots, mayMake: can.keys === true }
  })
  const shown = value?.bots.find((bot) => bot.id === id)
  return (
    <>
      {id !== undefined && (
        <p>
          <a href={hrefOf({ name: 'account', tab: 'bots' })}>{words.all}</a>
        </p>
      )}
      <ErrorNote error={error} onRetry={reload} />
      {!value && !error && <Waiting onRetry={reload} />}
      {value && id === undefined && <BotList {...value} onChanged={reload} />}
      {value && id !== undefined && !shown && <p class="quiet">{texts.value.errors.codes.not_found}</p>}
      {value && shown && <BotDetails key={shown.id} bot={shown} mayMake={value.mayMake} onChanged={reload} />}
    </>
  )
}

function BotList({ bots, mayMake, onChanged }: { bots: readonly Bot[]; mayMake: boolean; onChanged: () => void }) {
  const { client } = useApp()
  const words = botsTexts.value
  const { keys } = accountTexts.value
  const [created, setCreated] = useState<CreatedBot>()
  const create = useConfirmed(async (form: HTMLFormElement) => {
    const { username = '', display_name, description } = fieldsOf(form)
    const optional = { ...(display_name && { display_name }), ...(description && { description }) }
    setCreated(await client.bots.create({ username, ...optional }))
    form.reset()
    onChanged()
  })
  return (
    <>
      <p class="hint">{words.text}</p>
      {bots.length === 0 && <p class="quiet">{words.none}</p>}
      <ul class="items">
        {bots.map((bot) => (
          <li key={bot.id}>
            <Avatar id={bot.id} name={nameOf(bot)} photo={bot.avatar_url} />
            <BotName bot={bot} isLink />
          </li>
        ))}
      </ul>
      {mayMake && (
        <section>
          <h3>{words.create}</h3>
          <Form action={create.action} button={words.create}>
            <BotFields />
          </Form>
        </section>
      )}
      {create.dialog}
      {created && (
        <OnceShown
          title={words.created(nameOf(created.bot))}
          text={words.created_text}
          label={words.key}
          value={created.key}
          copyLabel={keys.copy}
          onClose={() => {
            goTo({ name: 'account', tab: 'bots', id: created.bot.id })
            setCreated(undefined)
          }}
        />
      )}
    </>
  )
}

/** What a bot is called, and what it does. */
export function BotName({ bot, isLink = false }: { bot: Bot; isLink?: boolean }) {
  const words = botsTexts.value
  const name = nameOf(bot)
  return (
    <span class="name">
      {isLink ? (
        <a href={hrefOf({ name: 'account', tab: 'bots', id: bot.id })} dir="auto">
          {name}
        </a>
      ) : (
        <strong dir="auto">{name}</strong>
      )}
      {bot.disabled && <span class="tag warning">{words.disabled}</span>}
      <small>
        <bdi>@{bot.username}</bdi>
      </small>
      {bot.description && <small dir="auto">{bot.description}</small>}
    </span>
  )
}
