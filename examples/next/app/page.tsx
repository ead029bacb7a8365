export default function Page() {
  return <p>The application.</p>
}
