import type { Notice } from 'chat-server/client'
import { noticesOf } from 'chat-server/client/parts'
import { useEffect } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { Markdown } from '../markdown/lazy.tsx'
import { announce } from '../parts/announcer.tsx'
import { Avatar } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { composeTexts } from '../texts/compose.ts'
import { longTime, timeOf } from '../texts/time.ts'
import { Used } from './used.tsx'

/** A notice that has just arrived is read aloud. */
const NEW_MS = 10_000

/** A text of a program for the user alone. */
export function NoticeArticle({ notice }: { notice: Notice }) {
  const { people, store } = useApp()
  const { run, isRunning, error } = useAction(() => noticesOf(store).dismiss(notice.id))
  const { commands } = composeTexts.value
  const name = people.nameOf(notice.author_user_id)
  useEffect(() => {
    const age = Date.now() - Date.parse(notice.created_at)
    if (Math.abs(age) < NEW_MS) announce(`${name}: ${notice.content}. ${commands.only_you}`)
  }, [notice.id])
  return (
    <article class="message notice" aria-label={commands.notice(name)}>
      <Avatar id={notice.author_user_id} name={name} />
      <header>
        <strong dir="auto">{name}</strong>
        <time datetime={notice.created_at} title={longTime(notice.created_at)}>
          {timeOf(notice.created_at)}
        </time>
        <span class="tag">{commands.only_you}</span>
      </header>
      <div class="content">
        {notice.invocation && <Used invocation={notice.invocation} />}
        <Markdown text={notice.content} isGrowing={false} />
        <button type="button" class="link" disabled={isRunning} onClick={() => void run()}>
          {commands.dismiss}
        </button>
        <ErrorNote error={error} />
      </div>
    </article>
  )
}
