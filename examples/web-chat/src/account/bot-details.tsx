import type { Bot } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { goTo } from '../app/route.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { EraseDialog } from '../parts/erase-dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { showToast } from '../parts/toast.tsx'
import { botsTexts } from '../texts/integrations.ts'
import { administrationTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { BotFields } from './bot-fields.tsx'
import { BotName } from './bots.tsx'
import { KeyList } from './key-list.tsx'

interface BotDetailsProps {
  bot: Bot
  /** Whether the user may make keys. */
  mayMake: boolean
  onChanged: () => void
}

/** One bot of the user: its names, its keys, and what takes its access away. */
export function BotDetails({ bot, mayMake, onChanged }: BotDetailsProps) {
  const { client, people } = useApp()
  const words = botsTexts.value
  const edit = useAction(async (form: HTMLFormElement) => {
    const changed = await client.bots.change(bot.id, fieldsOf(form))
    people.update(changed.bot)
    showToast(words.saved)
    onChanged()
  })
  return (
    <>
      <div class="identity">
        <Avatar id={bot.id} name={nameOf(bot)} photo={bot.avatar_url} />
        <BotName bot={bot} />
      </div>
      <section>
        <h3>{words.about}</h3>
        <Form action={edit} button={texts.value.save}>
          <BotFields bot={bot} />
        </Form>
      </section>
      <section>
        <h3>{words.keys}</h3>
        <KeyList
          text={words.keys_text}
          none={words.no_keys}
          list={(signal) => client.bots.listKeys(bot.id, { signal })}
          create={(key) => client.bots.createKey(bot.id, key)}
          revoke={(id) => client.bots.revokeKey(bot.id, id)}
          mayCreate={mayMake}
        />
      </section>
      <BotAccess bot={bot} onChanged={onChanged} />
    </>
  )
}

/** Disables a bot for a while, or erases it. What an administrator has disabled, only an administrator enables. */
function BotAccess({ bot, onChanged }: { bot: Bot; onChanged: () => void }) {
  const { client } = useApp()
  const words = botsTexts.value
  const { users } = administrationTexts.value
  const [opened, setOpened] = useState<'disable' | 'erase'>()
  const close = () => setOpened(undefined)
  const change = async (disabled: boolean) => {
    await client.bots.change(bot.id, { disabled })
    onChanged()
  }
  const enable = useAction(() => change(false))
  const isOfAdmin = bot.disabled_reason === 'admin'
  return (
    <section>
      <h3>{users.danger}</h3>
      {isOfAdmin && <p>{words.disabled_by_admin}</p>}
      <p class="buttons start">
        {isOfAdmin ? null : bot.disabled ? (
          <button type="button" disabled={enable.isRunning} onClick={() => void enable.run()}>
            {users.enable}
          </button>
        ) : (
          <button type="button" class="danger" onClick={() => setOpened('disable')}>
            {users.disable}
          </button>
        )}
        <button type="button" class="danger" onClick={() => setOpened('erase')}>
          {users.erase}
        </button>
      </p>
      <ErrorNote error={enable.error} />
      {opened === 'disable' && (
        <Confirm
          title={users.disable_title(nameOf(bot))}
          text={words.disable_text}
          button={users.disable}
          act={() => change(true)}
          onClose={close}
        />
      )}
      {opened === 'erase' && (
        <EraseDialog
          account={bot}
          text={words.erase_text}
          erase={(messages) => client.bots.remove(bot.id, { messages })}
          onErased={() => {
            showToast(words.erased)
            goTo({ name: 'account', tab: 'bots' }, { replace: true })
            onChanged()
          }}
          onClose={close}
        />
      )}
    </section>
  )
}
