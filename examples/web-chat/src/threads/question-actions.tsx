import { useRef } from 'preact/hooks'
import { copyText } from '../parts/copy-text.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Menu } from '../parts/menu.tsx'
import { showToast } from '../parts/toast.tsx'
import { texts } from '../texts/texts.ts'
import { useIsNear } from './near.ts'

interface QuestionActionsProps {
  prompt: string
  onEdit: () => void
}

/** What the asker may do with a question: ask another one in its place, and copy it. */
export function QuestionActions(props: QuestionActionsProps) {
  const place = useRef<HTMLDivElement>(null)
  const isNear = useIsNear(place)
  return (
    <div ref={place} class="actions">
      {isNear && <Actions {...props} />}
    </div>
  )
}

function Actions({ prompt, onEdit }: QuestionActionsProps) {
  const { messages } = texts.value

  async function copy(): Promise<void> {
    const isCopied = await copyText(prompt)
    const { copied, not_copied } = texts.value.copying
    showToast(isCopied ? copied : not_copied, { isError: !isCopied })
  }

  return (
    <>
      <div class="at-hand">
        <IconButton icon="edit" label={messages.edit} onClick={onEdit} />
      </div>
      <Menu label={messages.more} button={<Icon name="more" />}>
        {(close) => (
          <>
            <button
              type="button"
              class="touch-only"
              onClick={() => {
                close()
                onEdit()
              }}
            >
              <Icon name="edit" />
              {messages.edit}
            </button>
            <button
              type="button"
              onClick={() => {
                close()
                void copy()
              }}
            >
              <Icon name="copy" />
              {messages.copy_text}
            </button>
          </>
        )}
      </Menu>
    </>
  )
}
