import type { Attachment, Message } from 'chat-server/client'
import { useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { hrefOf } from '../app/route.ts'
import { FileName } from '../files/file-name.tsx'
import { addressOf, isPicture, previewOf } from '../files/pictures.ts'
import { sizeText } from '../files/size-text.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { useRoving } from '../parts/roving.ts'
import { useVisible } from '../parts/visible.ts'
import { Waiting } from '../parts/waiting.tsx'
import { useResults } from '../search/use-results.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { authorOf } from '../threads/author.ts'
import type { TabProps } from './pane.tsx'

const Lightbox = lazy(() => import('../files/lightbox.tsx').then(({ Lightbox }) => Lightbox))

/** The files of the messages of a conversation, newest first. */
export function Files({ conversation: { id } }: TabProps) {
  const { results, status, error, has_more, more } = useResults({ name: 'search', q: '', in: id, has: 'file' })
  const { list: keys } = useRoving()
  const end = useRef<HTMLLIElement>(null)
  useVisible(end, more, has_more)
  const { base_url } = useApp().client_options
  const [opened, setOpened] = useState<number>()
  const files = results.flatMap(({ message }) => (message.attachments ?? []).map((file) => ({ file, message })))
  const pictures = files.filter(({ file }) => isPicture(file, base_url))
  return (
    <>
      <ErrorNote error={error} />
      {status === 'ready' && files.length === 0 && <p class="quiet">{roomTexts.value.details.no_files}</p>}
      {status === 'loading' && files.length === 0 && <Waiting kind="item" />}
      <ul class="items shared-files" {...keys}>
        {files.map((each) => {
          const at = pictures.indexOf(each)
          const onOpen = at < 0 ? undefined : () => setOpened(at)
          return <FileItem key={`${each.message.id} ${each.file.id}`} {...each} onOpen={onOpen} />
        })}
        {has_more && (
          <li ref={end} class="quiet">
            {texts.value.loading}
          </li>
        )}
      </ul>
      {opened !== undefined && <Lightbox pictures={pictures} start={opened} onClose={() => setOpened(undefined)} />}
    </>
  )
}

interface ItemProps {
  file: Attachment
  message: Message
  /** Shows it, if it is a picture. */
  onOpen: (() => void) | undefined
}

function FileItem({ file, message, onOpen }: ItemProps) {
  const { people, client_options } = useApp()
  const { name, size, status } = file
  const { conversation_id, root_id, id: message_id, created_at } = message
  const route = { conversation_id, message_id } as const
  return (
    <li>
      {onOpen ? (
        <button type="button" class="shared-picture" aria-label={roomTexts.value.pictures.show(name)} onClick={onOpen}>
          <img src={previewOf(file, client_options.base_url)} alt="" loading="lazy" decoding="async" />
        </button>
      ) : (
        <Icon name="file" />
      )}
      <span class="name">
        {status === 'ready' ? (
          <a href={`${addressOf(file, client_options.base_url)}/content`} download={name}>
            <FileName name={name} />
          </a>
        ) : (
          <FileName name={name} />
        )}
        <small>
          {sizeText(size)} · <bdi>{authorOf(message, people)}</bdi> ·{' '}
          <a
            href={hrefOf(
              root_id === message_id ? { name: 'conversation', ...route } : { name: 'thread', ...route, root_id },
            )}
          >
            <time datetime={created_at} title={longTime(created_at)}>
              {shortTime(created_at)}
            </time>
          </a>
        </small>
      </span>
    </li>
  )
}
