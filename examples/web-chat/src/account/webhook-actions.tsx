import type { CallOutcome, RotatedSecret } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { goTo } from '../app/route.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { OnceShown } from '../parts/once-shown.tsx'
import { showToast } from '../parts/toast.tsx'
import { webhooksTexts } from '../texts/integrations.ts'
import { useConfirmed } from './confirmed.tsx'
import type { WebhookDetailsProps } from './webhook-details.tsx'
import { outcomeText } from './webhook-words.ts'

/** Verifies, tests, switches, rotates and deletes a webhook; only what its state allows is offered. */
export function WebhookActions({ webhook, mayMake, user, onChanged }: WebhookDetailsProps) {
  const { webhooks } = useApp().client
  const words = webhooksTexts.value
  const { id, url, status, disabled_reason } = webhook
  const [outcome, setOutcome] = useState<CallOutcome>()
  const [rotated, setRotated] = useState<RotatedSecret>()
  const [isRemoving, setRemoving] = useState(false)
  const call = useAction(async (which: 'verify' | 'test') => {
    setOutcome(undefined)
    setOutcome(await webhooks[which](id))
    onChanged()
  })
  const enable = useAction((enabled: boolean) => webhooks.change(id, { enabled }).then(onChanged))
  const rotate = useConfirmed(async () => {
    setRotated(await webhooks.rotate(id))
    onChanged()
  })
  const isBusy = call.isRunning || enable.isRunning || rotate.action.isRunning
  // What an administrator has disabled, an administrator enables; without a secret nothing can be signed.
  const mayEnable =
    status === 'disabled' &&
    disabled_reason !== 'secret_lost' &&
    (disabled_reason !== 'admin' || user.roles.includes('admin'))
  const secret = rotated?.secret ?? rotated?.public_key
  return (
    <section>
      <h3>{words.actions}</h3>
      <p class="buttons start">
        {status === 'unverified' && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void call.run('verify')}>
            {words.verify}
          </button>
        )}
        {status === 'active' && (
          <>
            <button type="button" disabled={isBusy} onClick={() => void call.run('test')}>
              {words.test}
            </button>
            <button type="button" disabled={isBusy} onClick={() => void enable.run(false)}>
              {words.disable}
            </button>
          </>
        )}
        {mayEnable && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void enable.run(true)}>
            {words.enable}
          </button>
        )}
        {mayMake && (
          <button type="button" disabled={isBusy} onClick={() => void rotate.action.run()}>
            {words.rotate}
          </button>
        )}
        <button type="button" class="danger" onClick={() => setRemoving(true)}>
          {words.remove}
        </button>
      </p>
      <p class="outcome" role="status">
        {outcome && outcomeText(outcome)}
      </p>
      <ErrorNote error={call.error ?? enable.error ?? rotate.action.error} />
      {rotate.dialog}
      {rotated && secret !== undefined && (
        <OnceShown
          title={words.rotated}
          text={rotated.secret === undefined ? words.rotated_text : `${words.secret_text} ${words.rotated_text}`}
          label={rotated.secret === undefined ? words.public_key : words.secret_label}
          value={secret}
          copyLabel={rotated.secret === undefined ? words.copy_public_key : words.copy_secret}
          onClose={() => setRotated(undefined)}
        />
      )}
      {isRemoving && (
        <Confirm
          title={words.remove_title}
          text={words.remove_text(url)}
          button={words.remove}
          act={async () => {
            await webhooks.remove(id)
            showToast(words.removed)
            goTo({ name: 'account', tab: 'webhooks' }, { replace: true })
            onChanged()
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </section>
  )
}
