// Makes tokens for this example: node examples/jwt-and-roles/token.js NAME ROLE… [key=value…]
// The private key in issuer.key.json is worth nothing anywhere else; in earnest the tokens are those of your login service.
import fs from 'node:fs';
import { importJWK, SignJWT } from 'jose';

const [subject, ...words] = process.argv.slice(2);
const roles = words.filter((word) => !word.includes('='));
const changes = Object.fromEntries(words.filter((word) => word.includes('=')).map((word) => word.split('=')));
const jwk = JSON.parse(fs.readFileSync(new URL('issuer.key.json', import.meta.url), 'utf8'));
const inTheYear2100 = 4102444800;
const claims = { iss: 'https://login.example', aud: 'shop', sub: subject, roles, exp: inTheYear2100, ...changes };
const token = new SignJWT({ ...claims, exp: Number(claims.exp) }).setProtectedHeader({ alg: jwk.alg, kid: jwk.kid });
process.stdout.write(`${await token.sign(await importJWK(jwk, jwk.alg))}\n`);
