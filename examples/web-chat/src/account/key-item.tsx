import type { ApiKey } from 'chat-server/client'
import { accountTexts } from '../texts/settings.ts'
import { shortTime } from '../texts/time.ts'

/** An API key in a list, with a button that revokes it. */
export function KeyItem({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }) {
  const { keys: words, since } = accountTexts.value
  const { name, created_at, expires_at, last_used_at } = apiKey
  const isExpired = expires_at !== undefined && Date.parse(expires_at) <= Date.now()
  return (
    <li>
      <span class="name">
        <strong dir="auto">{name}</strong>
        {isExpired && <span class="tag">{words.expired}</span>}
        <small>
          {[
            since(shortTime(created_at)),
            last_used_at ? words.used(shortTime(last_used_at)) : words.unused,
            expires_at && !isExpired ? words.until(shortTime(expires_at)) : '',
          ]
            .filter(Boolean)
            .join(' · ')}
        </small>
      </span>
      <button type="button" aria-label={words.revoke_of(name)} onClick={onRevoke}>
        {words.revoke}
      </button>
    </li>
  )
}
