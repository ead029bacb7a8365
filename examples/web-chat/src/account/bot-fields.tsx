import type { Bot } from 'chat-server/client'
import { Field } from '../parts/field.tsx'
import { botsTexts } from '../texts/integrations.ts'
import { texts } from '../texts/texts.ts'

/** The length of a description that the service takes. */
const MAX_DESCRIPTION = 500

/** The names of a bot, and what it does. */
export function BotFields({ bot }: { bot?: Bot }) {
  const words = botsTexts.value
  const { fields } = texts.value
  return (
    <>
      <Field
        label={fields.username}
        name="username"
        autocomplete="off"
        maxLength={64}
        defaultValue={bot?.username ?? ''}
        hint={words.username_hint}
        required
      />
      <Field
        label={words.display_name}
        name="display_name"
        autocomplete="off"
        maxLength={200}
        defaultValue={bot?.display_name ?? ''}
        hint={fields.optional}
      />
      <Field
        label={words.description}
        name="description"
        autocomplete="off"
        maxLength={MAX_DESCRIPTION}
        defaultValue={bot?.description ?? ''}
        hint={words.description_hint}
      />
    </>
  )
}
