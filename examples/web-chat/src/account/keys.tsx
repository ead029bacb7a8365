import { useApp } from '../app/context.ts'
import { accountTexts } from '../texts/settings.ts'
import { KeyList } from './key-list.tsx'

/** The API keys of the user. */
export function Keys() {
  const { keys } = useApp().client
  const { keys: words } = accountTexts.value
  return (
    <KeyList
      text={words.text}
      none={words.none}
      list={(signal) => keys.list({ signal })}
      create={(key) => keys.create(key)}
      revoke={(id) => keys.revoke(id)}
    />
  )
}
