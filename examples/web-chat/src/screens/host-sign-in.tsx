import { useApp } from '../app/context.ts'
import { entryTexts } from '../texts/entry.ts'
import { Card } from './card.tsx'
import type { SignInProps } from './sign-in.tsx'

/** The application around the service signs in: the page has a link there. */
export function HostSignIn({ title, children }: SignInProps) {
  const { brand } = useApp()
  const { signIn } = entryTexts.value
  return (
    <Card brand={brand} title={title ?? signIn.title(brand.name)}>
      {children}
      <p>{signIn.host}</p>
      {brand.sign_in_url && (
        <a class="button primary" href={brand.sign_in_url}>
          {signIn.button}
        </a>
      )}
    </Card>
  )
}
